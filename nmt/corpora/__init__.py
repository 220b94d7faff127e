"""From archives to shuffled word ids: fetch, extract, tokenize, clean, select, shortlist, binarize."""
