"""Verbs hidden in nouns and adjectives ("make a decision", "be in need of"), compiled for this project.

One entry a line as in `phrases.py`; `tables.py` inflects both sides alike. Data only.
"""

#: "be" + phrase: the plain verb takes the form of "be" ("are in need of" becomes "need").
BE_PHRASES = """
in possession of = have
in need of = need
in agreement with = agree with
in disagreement with = disagree with
in compliance with = comply with
in conflict with = conflict with
in violation of = violate
in contravention of = break
in support of = support
in favor of = favor
in attendance at = attend
indicative of = show
indicative of the fact that = show that
suggestive of the fact that = suggest that
suggestive of = suggest
reflective of = reflect
representative of = represent
supportive of = support
deserving of = deserve
dependent on = depend on
dependent upon = depend on
contingent on = depend on
contingent upon = depend on
applicable to = apply to
inclusive of = include
cognizant of the fact that = know that
cognizant of = know
comprised of = consist of
"""

#: Verb + noun where a verb will do; both sides are inflected alike.
LIGHT_VERBS = """
make use of = use
make a decision to = decide to
make a decision on = decide on
make a decision about = decide on
make a decision regarding = decide on
make a decision with regard to = decide on
make a decision with respect to = decide on
make a determination regarding = decide on
make a determination about = decide on
make a determination on = decide on
make a determination with regard to = decide on
make a determination with respect to = decide on
make the decision to = decide to
come to a decision = decide
arrive at a decision = decide
reach a decision on = decide on
reach a decision = decide [end]
come to the conclusion that = conclude that
arrive at the conclusion that = conclude that
reach the conclusion that = conclude that
reach an agreement on = agree on
reach an agreement with = agree with
come to an agreement on = agree on
reach an agreement = agree [end]
make an assumption that = assume that
make the assumption that = assume that
make an attempt to = try to
make every attempt to = try to
make an effort to = try to
make every effort to = try hard to
make reference to = refer to
make a note of = note
make mention of = mention
make provision for = provide for
make provisions for = provide for
make payment of = pay
make payment = pay [end]
make a payment = pay [end]
make a payment of = pay
make payments = pay [end]
make an application for = apply for
make an application to = apply to
make a request for = ask for
submit a request for = ask for
submit an application for = apply for
make a recommendation that = recommend that
make a determination of = decide
make a determination that = decide that
make a determination as to whether = decide whether
make a determination whether = decide whether
make a contribution to = contribute to
make a distinction between = distinguish between
make an improvement to = improve
make improvements to = improve
make improvements in = improve
make changes to = change
make a change to = change
make modifications to = change
make a modification to = change
make adjustments to = adjust
make an adjustment to = adjust
make corrections to = correct
make arrangements for = arrange for
make arrangements to = arrange to
make inquiries about = ask about
make an inquiry about = ask about
make a comparison between = compare
give consideration to = consider
take into consideration = consider
take into account = consider
take under consideration = consider
give an explanation of = explain
give a description of = describe
give an indication of = show
give authorization for = allow
provide an explanation of = explain
provide an explanation for = explain
provide a description of = describe
provide a summary of = summarize
provide an overview of = outline
provide a list of = list
provide an indication of = show
provide assistance to = help
provide assistance with = help with
provide assistance in = help in
provide support to = support
provide support for = support
provide protection for = protect
provide protection to = protect
provide guidance to = guide
provide notification to = tell
provide notification of = give notice of
provide notice to = tell
provide authorization for = allow
provide access to = give access to
render assistance to = help
be of assistance to = help
lend assistance to = help
offer assistance to = help
have an impact on = affect
have an effect on = affect
have an influence on = influence
have a tendency to = tend to
have a need for = need
have a requirement for = need
have a desire to = want to
have a preference for = prefer
have a negative impact on = harm
have an adverse effect on = harm
have an adverse impact on = harm
have a negative effect on = harm
have a positive impact on = help
have a positive effect on = help
have a discussion about = discuss
have a discussion of = discuss
hold a discussion on = discuss
hold a meeting = meet [end]
hold discussions on = discuss
hold discussions with = talk with
enter into negotiations with = negotiate with
enter into an agreement to = agree to
place emphasis on = stress
put emphasis on = stress
place an emphasis on = stress
place restrictions on = restrict
place limitations on = limit
impose restrictions on = restrict
impose limitations on = limit
place a limit on = limit
place an order for = order
take action to = act to
take steps to = act to
take measures to = act to
take appropriate action = act [end]
undertake efforts to = try to
exhibit a tendency to = tend to
conduct an inquiry into = look into
conduct an investigation into = investigate
conduct research on = study
conduct research into = study
carry out research on = study
carry out research into = study
perform maintenance on = maintain
perform a check on = check
perform a search for = search for
perform the installation of = install
carry out the installation of = install
carry out the implementation of = carry out
express an opinion on = comment on
express opposition to = oppose
express support for = support
bring to a conclusion = end
bring to an end = end
come to an end = end
put an end to = end
bring about an improvement in = improve
effect a change in = change
effect an improvement in = improve
result in the reduction of = reduce
result in a reduction of = reduce
result in a reduction in = reduce
result in an increase in = increase
lead to an increase in = increase
lead to a reduction in = reduce
cause a delay in = delay
acknowledge and agree = agree
understand and agree = agree
agree and acknowledge = agree
aid and abet = aid
comply with the requirements of = comply with
"""

#: Verbs of performing, nouns of what is performed, and the verb that says it: "conduct a review of" is "review".
PERFORMING = "conduct, perform, carry out, undertake, make"
PERFORMED = """
analysis = analyze
assessment = assess
audit = audit
calculation = calculate
check = check
comparison = compare
examination = examine
evaluation = evaluate
inspection = inspect
investigation = investigate
measurement = measure
reassessment = reassess
revision = revise
review = review
search = search
selection = select
study = study
survey = survey
test = test
verification = verify
"""

#: Before these gerunds the phrases of `PURPOSES` are "to", and the gerund becomes an infinitive. The verbs of the other
#: tables are added to the list.
PURPOSES = """
as a means of
for purposes of
for the purpose of
for the purposes of
with a view to
with the aim of
with the goal of
with the intention of
with the objective of
"""
PURPOSE_VERBS = """
achieve add address adjust advance allow analyze answer apply approve assess avoid become bring build buy calculate
carry change check choose collect combine compare compile complete compute control convert copy correct cover create
cut deal decide define deliver describe design detect determine develop direct discuss display draft drive encourage
enforce enhance ensure establish estimate evaluate examine explain explore extend filter find fix form fund gain
gather generate get give guide handle hold identify implement improve increase inform inspect install integrate
introduce invest investigate keep lead learn limit list load look maintain make manage measure meet modernize monitor
move negotiate offer open operate optimize order organize pay perform plan prepare present preserve prevent print
process produce promote protect prove provide publish put raise reach read record reduce remove render repair replace
report research resolve respond restore review run save search secure seek sell send serve set share show simplify
solve start stop store streamline strengthen study support take teach tell test track train treat try understand
update validate verify view visit work write
"""

#: After "for", "in", "by" and "through", "the NOUN of" is the gerund: "for the evaluation of" is "for evaluating".
NOMINALIZATIONS = """
achievement = achieving
analysis = analyzing
application = applying
assessment = assessing
calculation = calculating
classification = classifying
collection = collecting
completion = completing
construction = building
creation = creating
delivery = delivering
design = designing
detection = detecting
determination = determining
development = developing
disclosure = disclosing
discussion = discussing
distribution = distributing
elimination = eliminating
evaluation = evaluating
examination = examining
exploration = exploring
formulation = formulating
generation = generating
identification = identifying
implementation = implementing
improvement = improving
installation = installing
introduction = introducing
investigation = investigating
measurement = measuring
monitoring = monitoring
preparation = preparing
prevention = preventing
processing = processing
production = producing
promotion = promoting
protection = protecting
provision = providing
reduction = reducing
removal = removing
resolution = resolving
review = reviewing
selection = choosing
submission = submitting
transmission = sending
utilization = using
verification = verifying
"""
