"""From archives to shuffled ids: fetch, extract, tokenize, select, shortlist, binarize."""
