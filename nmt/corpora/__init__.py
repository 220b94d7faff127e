"""From archives to shuffled ids: fetch, extract, tokenize, survey, estimate, rate, select, shortlist, binarize."""
