"""Species records: do *tests of equal power* find the same features from records and from a survey?

    python benchmarks/species_tests.py --data DIR

Data, features, levels and the frame are those of ``species.py``: records and random sites where the survey went, G
tests at level 0.01 by Bonferroni's rule, all species with 20 records in the frame and 20 surveyed presences. There
records and survey have very unequal power, so that decisions must differ even if both tell the truth. Here they have
the same. This plan was written, and committed, before any of its numbers was seen.

**Size.** A sample counts as many fully labelled rows as would give the test its noncentrality. n rows of a survey
count n. m records and n₀ random sites, N = m + n₀, a = m/N, count N κ with κ = (1-p)/p a (1-a), which is
m n₀ / (m + n₀) (1-p)/p; p is the survey's share of presences. n rows of which a share a is labelled, all present,
count n κ with κ = (1-p)/p a/(1-a). The common size of a species is that of all its records or half of the survey,
whichever is less.

**Samples.** Twenty times, by lot: the survey is cut in two halves, A and B, presences and absences each. Then, all of
the common size:

* the survey: sites of A with full labels, presences and absences in the proportion of the survey;
* the ceiling: sites of B with full labels, likewise;
* the control: all sites of B, with labels only for as many presences as the size takes;
* the records: as many of them as the size takes, and all random sites, in the frame.

**1. Significance.** The features found by ceiling, control and records, each against those found by the survey:
counts summed over species and features, averaged over the twenty draws; Cohen's κ; which share of what one side finds
the other finds too, both ways. Intervals: 95%, 2,000 draws of species with replacement, also for the difference from
the ceiling's κ. *Near the ceiling* is: at most 0.10 below it.

**2. Relevance.** With thousands of records "not zero" is no news; "above δ" is, and δ = 0.005 nats, Cohen's small
effect as in ``bl.plan`` and ``bl.advise``. Features are called above δ or below δ if the 90% interval of ``bl.rank``
lies above or below it, else undecided; the survey says above or below by its estimate from all of A. Here records are
taken as they are, all of those in the frame, since more of them must not hurt; ceiling and control are those of part
1, ranked instead of tested. Reported: how often the survey confirms "above" and "below", how many stay undecided, and
Cohen's κ over the decided ones.
"""
