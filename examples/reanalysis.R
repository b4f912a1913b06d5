# The estimates and intervals of a survey, computed once more from the noisy bits, in base R, with nothing of Candor's.
#
#     candor export honesty honesty.csv
#     candor results honesty --csv > results.csv
#     Rscript examples/reanalysis.R honesty.csv results.csv
#
# The first command writes the definition beside the bits, honesty.csv.definition.json, and that is where p and q come from.
# Printed is every figure that the bits give: its question, its option, n, the unbiased estimate, and the ends of its 95%
# interval (means have an estimate only: their intervals need more than a page). With the table of results as a second
# argument, both are compared, and a difference above a millionth is an error.
arguments <- commandArgs(trailingOnly = TRUE)
bits <- read.csv(arguments[1], check.names = FALSE, encoding = "UTF-8")
definition <- readLines(paste0(arguments[1], ".definition.json"), warn = FALSE, encoding = "UTF-8")

# Base R reads no JSON; but a definition is canonical (keys in order, no spaces), so that its parts can be cut out. With
# the package jsonlite, fromJSON(definition, simplifyVector = FALSE) gives the same fields.
ask <- startsWith(definition, '{"ask":1,')
cut <- '"mechanism":\\{[^}]*\\},"questions":\\[[^]]*\\]'
fields <- regmatches(definition, gregexpr(cut, definition))[[1]]
number <- function(text, name) as.numeric(sub(paste0('.*"', name, '":"?(-?[0-9.]+)"?.*'), "\\1", text))

# A stored bit is 1 with probability p if what it says is true of the respondent, with q if it is not: integers over 2^64.
chances <- function(field, kind) {
  if (kind == "flip") return(c(number(field, "one"), number(field, "zero")) / 2^64)
  keep <- number(field, "keep") / 2^64
  if (kind == "subset") return(c(keep, (number(field, "weight") - keep) / (number(field, "size") - 1)))
  sets <- 2^number(field, "draw")
  other <- (1 - keep) / (sets - 1)
  c(keep + (sets / 2 - 1) * other, sets / 2 * other)
}

# Guarded Clopper-Pearson: the exact interval of a binomial count, mapped as the estimate is. A count below nq or above np
# is moved there first, so that the interval is never empty.
interval <- function(ones, n, p, q, level = 0.95) {
  lower <- pmin(ones, floor(n * p))
  upper <- pmax(ones, ceiling(n * q))
  low <- ifelse(lower <= 0, 0, qbeta((1 - level) / 2, lower, n - lower + 1))
  high <- ifelse(upper >= n, 1, qbeta((1 + level) / 2, upper + 1, n - upper))
  ends <- cbind((low - q) / (p - q), (high - q) / (p - q))
  ends[n == 0, ] <- rep(c(0, 1), each = sum(n == 0))
  pmin(pmax(ends, 0), 1)
}

figure <- function(question, option, n, estimate, low = NA, high = NA) {
  data.frame(question, option, n, estimate, low, high, row.names = NULL)
}

# The mean of a number that was rounded to levels, from the mean of these, counted from 0.
average <- function(id, level, n) {
  about <- regmatches(definition, regexpr(paste0('\\{"id":"', id, '",[^}]*'), definition))
  low <- number(about, "min")
  figure(id, "mean", n, low + level * (number(about, "max") - low) / (number(about, "levels") - 1))
}

found <- NULL
at <- 0
for (field in fields) {
  kind <- sub('.*"kind":"([a-z]+)".*', "\\1", field)
  size <- if (kind == "flip") 1 else number(field, "size")
  rows <- bits
  if (ask) { # the bit before a field says whose device answered it
    at <- at + 1
    rows <- bits[bits[[at]] == 1, , drop = FALSE]
  }
  width <- if (kind == "drawn") 2 * size else size
  ones <- colSums(rows[, at + seq_len(width), drop = FALSE], na.rm = TRUE) # empty: not asked about this option
  n <- rep(nrow(rows), width)
  at <- at + width
  ids <- gsub('"', "", strsplit(sub('.*"questions":\\[([^]]*)\\]', "\\1", field), ",")[[1]])

  if (kind == "geometric") { # a level counts for itself, the two at the ends also for what was cut there
    r <- number(field, "ratio") / 2^64
    level <- (sum((seq_len(size) - 1) * ones) + (ones[size] - ones[1]) * r / (1 - r)) / n[1]
    found <- rbind(found, average(ids, level, n[1]))
    next
  }
  pq <- chances(field, kind)
  if (kind == "drawn") { # two bits for an option: asked and no, asked and yes
    yes <- seq(2, width, by = 2)
    n <- ones[yes - 1] + ones[yes]
    ones <- ones[yes]
  }
  estimate <- (ones / n - pq[2]) / (pq[1] - pq[2])
  option <- substring(names(ones), nchar(paste(ids, collapse = "+")) + 2)
  if (kind == "flip") option <- "yes"
  if (kind == "drawn") option <- sub(":yes$", "", option)
  if (length(ids) == 1 && grepl(paste0('\\{"id":"', ids, '","levels":'), definition)) {
    answered <- estimate[option != "no answer"] # by level, of those who answered
    level <- sum((seq_along(answered) - 1) * answered) / sum(answered)
    found <- rbind(found, average(ids, level, n[1]))
    next
  }
  ends <- interval(ones, n, pq[1], pq[2])
  found <- rbind(found, figure(paste(ids, collapse = " + "), option, n, estimate, ends[, 1], ends[, 2]))
  # What RRuni(response, model = "Warner", p = p) of the package RRreg would say of a symmetric yes or no: the same estimate,
  # and a standard error where Candor has an exact interval.
  if (kind == "flip" && isTRUE(all.equal(sum(pq), 1))) {
    lambda <- ones / n
    warner <- (lambda + pq[1] - 1) / (2 * pq[1] - 1)
    error <- sqrt(lambda * (1 - lambda) / ((n - 1) * (2 * pq[1] - 1)^2))
    cat(sprintf("# RRreg, Warner's model with p = %.4f: %s %.12f, standard error %.12f\n", pq[1], ids, warner, error))
  }
}
cat(sprintf("%s\t%s\t%d\t%.12f\t%.12f\t%.12f\n", found$question, found$option, found$n, found$estimate, found$low, found$high), sep = "")

if (length(arguments) > 1) {
  told <- read.csv(arguments[2], check.names = FALSE, encoding = "UTF-8", colClasses = c(option = "character"))
  told <- told[told$list == "estimates", ]
  place <- match(paste(found$question, found$option), paste(told$question, told$option))
  told <- told[place, ]
  value <- ifelse(is.na(told$unbiased), told$raw, told$unbiased)
  # An interval reaches at least as far as the point that is displayed, which is the nearest possible one.
  apart <- c(found$estimate - value, pmin(found$low, told$estimate) - told$low, pmax(found$high, told$estimate) - told$high)
  apart <- abs(apart[!is.na(c(value, found$low, found$high))])
  cat(sprintf("# %d figures; the largest difference to %s is %.1e\n", nrow(found), arguments[2], max(apart)))
  if (anyNA(place) || any(found$n != told$n) || anyNA(apart) || max(apart) > 1e-6) stop("they are not the same")
}
