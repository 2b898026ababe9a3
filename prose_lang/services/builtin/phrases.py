"""Wordy phrases that connect, place and time things, compiled for this project from the common advice of
plain-language guides.

One entry a line, `wordy = plain [conditions]`; the conditions are explained in `conditions.py`. Data only:
`tables.py` makes rules of it, of `expressions.py`, `hidden_verbs.py` and `words.py`.
"""

#: Phrases that look like an entry or contain one, and must stay.
KEPT_PHRASES = """
once upon a time
in order not to
so as not to
the very
very much
very well
very same
not very
a number of times
frequently asked questions
purchasing power
informed consent
informed decision
informed decisions
beneficial owner
beneficial owners
equitable relief
equitable remedies
equitable remedy
or equitable
in quantity
order of magnitude
orders of magnitude
retained earnings
as appropriate
if appropriate
where appropriate
when appropriate
whenever appropriate
beneficial ownership
beneficial interest
appropriate to
appropriate for
cease and desist
additional insured
in the light of day
make amends
initial public offering
submit to
submits to
by way of
retain responsibility
solely responsible
very truly
very truly yours
primary residence
secondary residence
individual retirement account
"""

#: Conjunctions and prepositions: why, if, when, where, how, about what.
CONNECTIVES = """
in order to = to
in order for = for
in order that = so that
so as to = to
in an effort to = to
in an attempt to = to
for the purpose of = for
for the purposes of = for
for purposes of = for
due to the fact that = because
owing to the fact that = because
because of the fact that = because
on account of the fact that = because
by virtue of the fact that = because
in view of the fact that = because
in light of the fact that = because
in consideration of the fact that = because
as a result of the fact that = because
given the fact that = because
considering the fact that = because
for the reason that = because
for the simple reason that = because
on the grounds that = because
inasmuch as = because
is due to the fact that = is because
was due to the fact that = was because
despite the fact that = although
in spite of the fact that = although
notwithstanding the fact that = although
notwithstanding that = although
regardless of the fact that = although
apart from the fact that = except that
except for the fact that = except that
as a consequence of = because of
as a result of = because of
on account of = because of
by reason of = because of
by virtue of = by
in light of = given
in view of = given
in the light of = given
in spite of = despite
in the event that = if
in the event of = in case of
in the case that = if
in case that = if
on condition that = if
on the condition that = if
under the condition that = if
in the absence of = without
in the eventuality that = if
should it be the case that = if
if it is the case that = if
in cases where = when
in cases in which = when
in circumstances in which = when
in circumstances where = when
under circumstances in which = when
under circumstances where = when
in situations in which = when
in situations where = when
in a situation where = when
in instances in which = when
in instances where = when
at this point in time = now
at that point in time = then
at this moment in time = now
at the present time = now
at the present moment = now
at this time = now [end]
at the current time = now
as of this moment = now
for the time being = for now
until such time as = until
until such time that = until
at such time as = when
at such time that = when
at the time that = when
at the time when = when
during the time that = while
during such time as = while
during the period that = while
during the course of = during
in the course of = during
over the course of = over
throughout the course of = throughout
for the duration of = during
throughout the duration of = throughout
for a period of = for [amount]
within a period of = within [amount]
over a period of = over [amount]
during a period of = during [amount]
for the period of = for [amount]
period of time = time
periods of time = times
in the near future = soon
in the not too distant future = soon
at an early date = soon
at a later date = later
at a later time = later
at a later point in time = later
at a future date = later
at some point in the future = later
at an earlier date = earlier
in a timely manner = promptly
in a timely fashion = promptly
on a timely basis = promptly
at your earliest convenience = as soon as you can
at their earliest convenience = as soon as they can
at the earliest possible date = as soon as possible
at the earliest opportunity = as soon as possible
on a regular basis = regularly
on a daily basis = daily
on a weekly basis = weekly
on a monthly basis = monthly
on a quarterly basis = quarterly
on an annual basis = yearly
on a yearly basis = yearly
on a frequent basis = often
on a temporary basis = for a time
on a permanent basis = permanently
on a voluntary basis = voluntarily
on a case by case basis = case by case
on a case-by-case basis = case by case
on an ongoing basis = continuously
on an individual basis = one by one
on numerous occasions = often [noof]
on many occasions = often [noof]
on several occasions = several times [noof]
on a number of occasions = several times [noof]
on the occasion of = on
at all times = always [modal]
in many cases = often [noof]
in many instances = often [noof]
in most cases = usually [noof]
in most instances = usually [noof]
in the majority of cases = usually [noof]
in the majority of instances = usually [noof]
in the vast majority of cases = almost always [noof]
in some cases = sometimes [noof]
in some instances = sometimes [noof]
in certain cases = sometimes [noof]
in certain instances = sometimes [noof]
under certain circumstances = sometimes [noof]
in certain circumstances = sometimes [noof]
for the most part = mostly
prior to = before
prior to the time that = before
prior to the commencement of = before the start of
subsequent to = after
in advance of = before
previous to = before
in the wake of = after
on or before = by
not later than = by [date]
no later than = by [date]
with regard to = about [about]
with regards to = about [about]
in regard to = about [about]
in regards to = about [about]
with respect to = about [about]
with reference to = about [about]
in reference to = about [about]
in relation to = about [about]
in connection with = about [about]
pertaining to = about [about]
relating to = about [about]
as regards = about [start]
on the subject of = about
on the topic of = about
on the matter of = about
concerning the matter of = about
in the matter of = about
as to whether = about whether
the question as to whether = whether
the question of whether = whether
with the exception of = except for
with the possible exception of = except perhaps
in addition to = besides
in addition = also [start]
along the lines of = like
in the amount of = of [amount]
in the sum of = of [amount]
in excess of = more than
upwards of = more than
a minimum of = at least
a maximum of = up to
to a maximum of = to at most
up to a maximum of = up to
a total of = [number mid]
in close proximity to = near
in the vicinity of = near
in the proximity of = near
in the neighborhood of = about [number]
in the field of = in [bare]
in the area of = in [bare]
in the realm of = in [bare]
in the city of = in [bare]
in the process of = while [nobe gerund]
is in receipt of = has received
are in receipt of = have received
was in receipt of = had received
were in receipt of = had received
is in the process of = is [gerund]
are in the process of = are [gerund]
was in the process of = was [gerund]
were in the process of = were [gerund]
be in the process of = be [gerund]
been in the process of = been [gerund]
in lieu of = instead of
in place of = instead of
as opposed to = rather than
in conjunction with = with
in combination with = with
in association with = with
in concert with = with
in cooperation with = with
in collaboration with = with
together with = with
in accordance with the provisions of = under
in accordance with the terms of = under
in accordance with = in line with
in compliance with = in line with [nobe]
in conformity with = in line with
pursuant to the provisions of = under
pursuant to = under [unowned]
pursuant to your request = as you asked
under the provisions of = under
by means of = through
by the use of = by using
through the use of = by using
with the use of = using
with the aid of = with
with the assistance of = with help from
via the use of = using
on the basis of = based on
on behalf of = for
on the part of = by [agent]
in the form of = as [indefinite]
in the capacity of = as
in such a manner that = so that
in such a way that = so that
in such a manner as to = so as to
in such a way as to = so as to
with the result that = so that
to the extent possible = as far as possible
to the greatest extent possible = as far as possible
to the fullest extent possible = as fully as possible
to the maximum extent possible = as far as possible
insofar as = as far as
insofar as possible = as far as possible
the manner in which = how
the way in which = how
the means by which = how
the process by which = how
the reason why = why [be]
the reason for which = why [be]
"""
