"""Classes of English words that the rules look at, and whether a text is English at all.

Closed classes are listed, open ones are guessed from their place; nothing here parses a sentence.
"""

from __future__ import annotations

from collections.abc import Collection


def word_set(listed: str) -> frozenset[str]:
    """The words of a list, separated by spaces."""
    return frozenset(listed.split())


ARTICLES = frozenset({"a", "an", "the"})
POSSESSIVES = frozenset({"my", "your", "his", "her", "its", "our", "their", "whose"})
DEMONSTRATIVES = frozenset({"this", "that", "these", "those"})
QUANTIFIERS = word_set(
    "all any both each either enough every few fewer less many more most much neither no one other several some such"
    " two three four five six seven eight nine ten another"
)
#: What can begin a noun phrase.
DETERMINERS = ARTICLES | POSSESSIVES | DEMONSTRATIVES | QUANTIFIERS
SUBJECT_PRONOUNS = frozenset({"i", "you", "he", "she", "it", "we", "they"})
#: Pronouns that cannot be the object of what stands before them.
NOMINATIVES = frozenset({"i", "he", "she", "we", "they"})
PRONOUNS = (
    SUBJECT_PRONOUNS
    | {"me", "him", "us", "them", "who", "whom", "there", "everyone", "everybody", "anyone", "anybody", "someone"}
    | {"nobody", "nothing", "something", "anything", "everything", "itself", "themselves", "yourself", "ourselves"}
)
MODALS = frozenset({"can", "cannot", "could", "may", "might", "must", "shall", "should", "will", "would"})
BE = frozenset({"am", "are", "be", "been", "being", "is", "was", "were"})
FINITE_BE = frozenset({"am", "are", "is", "was", "were"})
HAVE = frozenset({"had", "has", "have", "having"})
DO = frozenset({"did", "do", "does", "doing", "done"})
CONTRACTED = word_set(
    "isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't won't wouldn't can't couldn't shouldn't"
    " mustn't it's that's there's he's she's we're they're you're i'm i've we've they've you've i'll we'll you'll"
    " they'll it'll he'll she'll"
)
AUXILIARIES = MODALS | FINITE_BE | {"has", "have", "had", "do", "does", "did"}
NEGATIONS = frozenset({"not", "no", "never", "none", "neither", "nor", "nobody", "nothing", "without", "cannot"})
RELATIVES = frozenset({"which", "who", "whom", "whose", "that", "where", "whereby", "wherein"})
CONDITIONALS = frozenset({"if", "unless", "whether", "until", "provided", "lest", "should", "when", "whenever", "once"})
SUBORDINATORS = (
    CONDITIONALS
    | RELATIVES
    | {"after", "although", "as", "because", "before", "how", "since", "so", "than", "though", "what", "while", "why"}
)
PREPOSITIONS = word_set(
    "about above across after against along among around as at before behind below beneath beside between beyond by"
    " despite down during except for from in inside into like near of off on onto out outside over past per since"
    " through throughout to toward towards under until up upon via with within without"
)
CONJUNCTIONS = frozenset({"and", "but", "or", "nor", "so", "yet", "either", "neither", "both"})
LIGHT_ADVERBS = word_set(
    "again ago almost already also always away back even ever far here how however instead just later likewise more"
    " most much never not now often only otherwise perhaps quite rather still then there therefore thus together too"
    " very well when why nevertheless nonetheless furthermore moreover additionally consequently accordingly hence"
    " meanwhile likewise"
)
#: Words that carry grammar rather than meaning.
FUNCTION_WORDS = (
    DETERMINERS
    | PRONOUNS
    | AUXILIARIES
    | BE
    | HAVE
    | DO
    | CONTRACTED
    | NEGATIONS
    | SUBORDINATORS
    | PREPOSITIONS
    | CONJUNCTIONS
    | LIGHT_ADVERBS
)

#: Nouns that can be told to do something: the subjects for which "is required to" means "must".
PERSONS = word_set(
    "agency applicant author authority bank bidder board borrower buyer candidate citizen claimant client college"
    " commission committee company consultant contractor contributor council court customer department developer"
    " director driver employee employer firm foundation government holder individual landlord licensee licensor"
    " manager member ministry office officer operator organization owner parent participant party patient person"
    " provider recipient resident school seller student subscriber supervisor supplier taxpayer teacher team tenant"
    " trustee university user vendor visitor volunteer worker"
)
#: The same in the plural, with the collective nouns.
GROUPS = word_set(
    "agencies applicants authorities authors banks bidders borrowers buyers candidates citizens claimants clients"
    " companies consultants contractors contributors customers departments developers directors drivers employees"
    " employers firms holders individuals landlords licensees licensors managers members officers officials"
    " operators organizations owners parents participants parties patients people personnel persons providers"
    " recipients residents schools sellers staff students subscribers supervisors suppliers taxpayers teachers teams"
    " tenants trustees users vendors visitors volunteers workers"
)

#: Finite verbs, besides the auxiliaries, that are common enough to recognize a clause by. Forms that may be nouns
#: ("reports") or participles ("approved") are no proof and not listed.
FINITE_VERBS = word_set(
    "adds affects agree agrees allow allows appear appears applies apply arises ask asks became become becomes"
    " began begin begins believe believes brings came comes consists contain contains creates decides depend depends"
    " describes exist exists expects follows gave gets gives goes grew grows include includes indicate indicates"
    " keeps knew knows lacks lets makes occurs owns pays prevents provide provides receive receives reduces refers"
    " remain remains require requires says seeks seem seems sends show showed suggest suggests takes tells tends"
    " thinks took wants went writes wrote"
)


#: English function words that other languages spell alike; they prove nothing.
_SHARED = word_set(
    "a all also am an and as at be been by die do for had have he her i in is it me more most my no of off on one or"
    " over past per so some such to two under us via was we were will"
)


def looks_english(words: Collection[str]) -> bool:
    """Whether enough of some lower-case words are English function words; running English has two in five.

    >>> looks_english("the form must be sent to the office by the applicant".split())
    True
    >>> looks_english("das Formular ist vom Antragsteller an die Behörde zu senden".lower().split())
    False
    """
    known = [word for word in words if word in FUNCTION_WORDS]
    telling = sum(word not in _SHARED for word in known)
    return len(known) * 100 >= len(words) * 17 and telling * 100 >= len(words) * 5
