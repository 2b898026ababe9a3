"""Each rule: programs in which it finds something, at the marked places, and their twins in which it finds nothing."""

from __future__ import annotations

import pytest
from linter_texts import Named, Open, document, linted, marked, pattern, places

from prose_lang.documents.types import parse_type
from prose_lang.linter import RULES, fix
from prose_lang.linter.rules.placeholder_text import stands_for_a_value
from prose_lang.semantics import Parameter, Signature

#: For each rule pairs of what is declared and a body; `«` marks where something is found.
FOUND: dict[str, list[tuple[str, str]]] = {
    "re-let": [
        ("slots: w", "let x = null\nrepeat 3:\n  «let x = call w\nreturn x"),
        ("slots: w", "let x = 1\nif x > 0:\n  for y in [1]:\n    «let x = y\nelse:\n  «let x = call w\nreturn x"),
        ("slots: w", "let { a, b } = call w\ntry:\n  «let a = call w\ncatch:\n  «let b = 1\nreturn [a, b]"),
        ("slots: w", "parallel:\n  let a = call w\n  let b = call w\nrepeat 2:\n  «let a = call w\nreturn [a, b]"),
        ("slots: w", "parallel for y in [1]:\n  let x = y\n  repeat 2:\n    «let x = call w\n  return x"),
        ("slots: w", "let x = 1\nrepeat 2:\n  repeat 2:\n    «let x = call w\nreturn x"),
    ],
    "read-before-set": [
        ("slots: w", "repeat 3:\n  let a = call w\n    b: «b\n  let b = call w\n    a: a\nreturn a"),
        ("slots: w", "parallel:\n  let a = call w\n  let b = call w\n    a: «a\nreturn [a, b]"),
        ("slots: w", "loop while «x is present (max: 3):\n  let x = call w\nreturn 1"),
        ("slots: w", 'if 1 < 2:\n  call w\n    p: "{«x}"\nlet x = 1\nreturn x'),
        ("slots: w", "return do run()\nblock run():\n  let y = «z\n  let z = 1\n  return y + z"),
        ("slots: w", "if «x accepts y:\n  return 1\nlet { x } = call w\nreturn x"),
        ("slots: w", "repeat 2:\n  n = «n + 1\nlet n = 1\nreturn n"),
        ("slots: w", "repeat 2:\n  if 1 < 2:\n    let y = «x\n    call w\n      y: y\nlet x = 1\nreturn x"),
        ("slots: w", "repeat 2:\n  loop while «x > 1 (max: 3):\n    call w\n  let x = 1\nreturn x"),
    ],
    "undeclared-input": [
        ("slots: w", "call w\n  t: «topic\nreturn topic"),
        ("", "return { a: «x, b: [«y, x] }"),
        ("slots: w", "let a = «a_list.length\nfor x in a_list:\n  call w\n    x: x\nreturn a"),
    ],
    "unbounded-loop": [
        ("slots: w", "«loop:\n  call w\n  break"),
        ("slots: w", "let x = 1\n«loop until x > 3:\n  x = x + 1\nreturn x"),
        ("slots: w", "let x = 1\n«loop while x < 3 as i:\n  x = i\n  «loop:\n    break\nreturn x"),
    ],
    "placeholder-text": [
        ("slots: w", 'return { result: 1, attempts: «"number of attempted delegates" }'),
        ("slots: w", 'return {\n  stats: { total: «"the total number of rounds" },\n  n: [{ n: «"sum of scores" }]\n}'),
        ("slots: w", 'if 1 < 2:\n  return { errors: «"list of all errors" }\nreturn { a: «"<result>", x: «"TODO" }'),
    ],
    "judge-needed": [
        ("slots: w", "let x = call w\nif «x reads well:\n  return 1\nreturn 2"),
        ("slots: w", "let x = call w\nloop until **«the text is good enough** (max: 3):\n  x = call w\nreturn x"),
        ("slots: w", 'let x = call w\nchoice **«which one**:\n  option "a":\n    return x\n  option "b":\n    2'),
        ("slots: w", "let x = call w\nif x > 1:\n  return 1\nelif «x has critical concerns:\n  return 2\nreturn x"),
    ],
    "always-fails": [
        ("inputs: t; config: n=3", 'let x = «"a" + n\nlet y = «n + "{t}"\nlet z = «"a" - 1\nreturn [x, y, z]'),
        ("config: n=3", 'let s = "{n}"\nfor x in «n:\n  let y = x\nrepeat «s:\n  let y = 1\nreturn y'),
        ("config: n=3", 'let a = «1 / 0\nlet b = «"{n}" < n\nlet c = «-"x"\nlet d = 1 in «5\nreturn [a, b, c, d]'),
        ("slots: w", "let x = 1\nrecord 2 in «x\nlet y = «5 | map:\n  return item\nreturn [x, y]"),
        ("slots: w", 'let t = "a text"\nif «t > 1:\n  return 1\nreturn t'),
        ("config: n=3", "let m = n * 2\nparallel for x in «m:\n  return x\nloop (max: «m > 2):\n  break\nreturn 1"),
    ],
    "lone-backoff": [
        ("slots: w", "return call w\n  «backoff: linear"),
        ("slots: w", 'let x = call w\n  a: 1\n  «backoff: "exponential"\n  timeout: 3\nreturn x'),
        ("", 'agent a:\n  prompt: "x"\nsession: a\n  «backoff: linear\nreturn session "y"\n  «backoff: linear'),
    ],
    "misspelt-condition": [
        ("slots: w", 'let x = call w\nif x.ok «= "a = b":\n  return 1\nreturn x'),
        ("slots: w", "let x = call w\nloop while x.n «=> 3 && x.n =< 5 (max: 2):\n  x = call w\nreturn x"),
        ("slots: w", "let score = call w\nif «scroe >= 3:\n  return 1\nreturn score"),
        ("slots: w; config: bar=3", "let s = call w\nif s.score meets «baar:\n  return 1\nreturn s"),
        ("slots: w, critic", "let x = call w\nloop until «critc accepts x (max: 3):\n  x = call critic\nreturn x"),
        ("slots: w", "let review = call w\nif 1 > 2 and «reveiw.ok:\n  return 1\nreturn review"),
        ("slots: w", "let review = call w\nif **«revew is not accepted**:\n  return 2\nreturn review"),
        ("slots: w", 'let kind = call w\nchoice «knd.label:\n  option "a":\n    return 1\nreturn kind'),
    ],
    "nothing-to-resume": [
        ("", 'agent a:\n  model: "x"\nreturn resume: «a'),
        ("", 'agent a:\n  persist: false\nlet x = resume: «a\nreturn x'),
        ("", 'agent a:\n  persist: null\nresume: «a\n  prompt: "x"\nreturn resume: «a'),
    ],
    "stage-without-value": [
        ("inputs: xs[]", "let log = []\nlet y = xs | «map:\n  for x in [item]:\n    let z = x\nreturn [y, log]"),
        ("inputs: xs[]", "return xs | «filter:\n  let kept = []\n  record item in kept"),
        ("inputs: xs[]", "return xs\n  | map:\n    return item\n  | «reduce(sum, x):\n    let s = [sum]\n    s[0] = x"),
        ("inputs: xs[]", "return xs | «pmap:\n  loop until item > 3 (max: 3):\n    let y = item"),
    ],
    "unknown-property": [
        ("", 'agent a:\n  «promt: "x"\nreturn session: a\n  prompt: "y"'),
        ("", 'return session "x"\n  «tone: "dry"'),
        ("", 'agent a:\n  persist: true\n  shape:\n    «delegate: ["y"]\nreturn resume: a\n  «promt: "y"'),
    ],
    "unknown-config-key": [
        ("config: rounds=3", "return [«config.round, config.rounds]"),
        ("config: n=3", 'let x = "{«config.m}"\nlet y = config.m\nreturn [x, y, config.n]'),
        ("config: n=3", 'return [«config["m"], «config.k.a, config["n"]]'),
        ("slots: w; config: bar=3", "let s = call w\nif s.score meets «config.br:\n  return config.bar\nreturn s"),
    ],
    "unused-variable": [
        ("slots: w", "let «x = call w\nreturn 1"),
        ("slots: w", "let { a, «b } = call w\nlet «c = a\nc = a\nreturn a"),
        ("slots: w", "repeat 3 as «i:\n  call w\nfor x, «n in [1]:\n  call w\n    x: x\nreturn 1"),
        ("slots: w", "let «log = []\nrecord 1 in log\ntry:\n  call w\ncatch as «e:\n  call w\nreturn 1"),
        ("slots: w", "parallel:\n  let «a = call w\n  let b = call w\nreturn b"),
        ("slots: w", "let xs = parallel repeat 3 as «i:\n  let «y = call w\n  call w\nreturn xs"),
        ("slots: w", "loop (max: 3) as «i:\n  break\nreturn 1"),
    ],
    "unused-slot": [],
    "unused-config": [],
    "unused-input": [],
    "unused-block": [
        ("slots: w", "block «polish(x):\n  return x\nreturn 1"),
        ("slots: w", "block «again(x):\n  return do again(x)\nreturn 1"),
        ("slots: w", "block «a():\n  return do b()\nblock b():\n  return 1\nreturn 2"),
    ],
    "unused-agent": [
        ("", 'agent «a:\n  model: sonnet\nreturn session "hello"'),
        ("", 'agent «a:\n  model: sonnet\nagent b:\n  model: sonnet\nreturn session: b\n  prompt: "hello"'),
        ("", 'agent «a:\n  model: sonnet\nagent «b:\n  model: sonnet\nreturn 1'),
    ],
    "unused-use": [
        ("slots: w", '«use "stdlib:refine" as improve\nreturn call w'),
        ("slots: w", '«use "refine"\nuse "other/guard"\nlet x = call guard\nreturn x'),
        ("slots: w", '«use "stdlib:refine" as a\n«use "stdlib:refine" as b\nreturn call w'),
    ],
    "shadowing": [
        ("slots: w; inputs: x", "for «x in [1]:\n  call w\n    x: x\nreturn 1"),
        ("slots: w", "let i = 1\nrepeat 2 as «i:\n  repeat 3 as «i:\n    call w\nreturn i"),
        ("slots: w; config: n=2", "block f(«n, «w):\n  return n\nreturn do f(1, 2)"),
        ("slots: w", "let e = 1\ntry:\n  call w\ncatch as «e:\n  try:\n    call w\n  catch as «e:\n    call w\ne"),
        ("slots: w", "let x = 1\nlet ys = parallel for «x, «w in [1]:\n  return x\nreturn [x, ys]"),
        ("slots: w", "let acc = 1\nlet n = [1] | reduce(«acc, x):\n  acc + x\nreturn [acc, n]"),
    ],
    "unreachable": [
        ("slots: w", "return 1\n«call w\ncall w"),
        ("slots: w", 'repeat 3:\n  if 1 < 2:\n    break\n  else:\n    throw "no"\n  «call w\nreturn 1'),
        ("slots: w", "if true:\n  call w\nelif «1 < 2:\n  call w\nif true:\n  call w\nelse:\n  «call w\nreturn 1"),
        ("slots: w", "let a = call w\nif a:\n  call w\nif «false:\n  call w\nloop while «false (max: 2):\n  call w"),
        ("slots: w", "let a = call w\nif a > 1:\n  call w\nelif «a >  1:\n  call w\nreturn 1"),
        ("slots: w", "loop:\n  call w\n«return 1"),
        ("slots: w", "try:\n  return call w\ncatch:\n  return 2\n«return 3"),
        ("slots: w", "for x in [1]:\n  continue\n  «call w\n    x: x\nreturn 1"),
    ],
    "lost-value": [
        ("slots: w", "parallel for x in [1]:\n  «return call w\n    x: x\nreturn 1"),
        ("slots: w", "parallel:\n  let a = call w\n  if 1 < 2:\n    «return call w\nreturn a"),
        ("slots: w", "parallel repeat 3 as i:\n  if i > 1:\n    «return i\n  return 2\nreturn 1"),
        ("slots: w", "do:\n  let x = call w\n  «return x\nreturn 1"),
        ("slots: w", "repeat 2:\n  parallel for x in [1]:\n    «return x\nreturn 1"),
    ],
}  # fmt: skip

#: The twins, in which the rule finds nothing.
SILENT: dict[str, list[tuple[str, str]]] = {
    "always-fails": [
        ("slots: w; inputs: t", 'let x = call w\nlet y = x + "a"\nlet z = x.n - 1\nreturn [y, z, t + "a"]'),
        ("inputs: xs[]", "let x = null\nrecord 1 in x\nlet y = []\nfor i in x + y + xs:\n  record i in y\nreturn y"),
        ("slots: w", "try:\n  let x = 1 / 0\n  for y in 5:\n    call w\ncatch:\n  return 1\nreturn 2"),
        ("slots: w; config: n=3", "let m = null\nrepeat n:\n  m = n + 1\nrepeat m:\n  call w\nreturn -n"),
        ("slots: w", "let t = call w\ncall t\nreturn t"),
    ],
    "lone-backoff": [
        ("slots: w", "return call w\n  backoff: linear\n  retry: 3"),
        ("slots: w", "return call w\n  backoff: none"),
        ("", 'agent a:\n  retry: 2\nreturn session: a\n  prompt: "x"\n  backoff: linear'),
    ],
    "misspelt-condition": [
        ("slots: w", "let results = call w\nif results include failures:\n  return 1\nreturn results"),
        ("slots: w", "let failure = call w\nlet x = failure\nif x include failures:\n  return failure\nreturn x"),
        ("slots: w", "let state = call w\nif the stage is final and nothing is left:\n  return 1\nreturn state"),
        ("slots: critic", "let drafts = 1\nif critics approve of the draft:\n  return call critic\nreturn drafts"),
    ],
    "nothing-to-resume": [
        ("", 'agent a:\n  persist: true\nreturn resume: a'),
        ("", 'agent a:\n  persist: project\nreturn resume: a'),
        ("", 'agent a:\n  model: "x"\nreturn session: a'),
    ],
    "stage-without-value": [
        ("slots: w; inputs: xs[]", "return xs | map:\n  call w\n    x: item"),
        ("inputs: xs[]", "return xs | filter:\n  if item > 1:\n    return true"),
        ("inputs: xs[]", "return xs | map:\n  let y = item\n  y + 1"),
        ("inputs: xs[]", 'return xs | map:\n  throw "never"'),
        ("inputs: xs[]", "return xs | map:\n  for x in [item]:\n    return x"),
    ],
    "unknown-property": [
        ("", 'agent a:\n  model: "fast"\n  persist: project\n  skills: ["y"]\nreturn session: a\n  context: []'),
        ("slots: w", 'return call w\n  promt: "y"\n  shape: 1'),
        ("", 'agent a:\n  shape:\n    self: ["x"]\n    delegates: ["y"]\nreturn session: a\n  prompt: "y"'),
    ],
    "unknown-config-key": [
        ("config: n=3", 'return [config.n, config, "{config.n}"]'),
        ("config: n=3", "let config = { m: 1 }\nreturn [config.m, n]"),
        ("config: n=3", "let all = config\nreturn all.m"),
    ],
    "re-let": [
        ("slots: w", "let x = null\nrepeat 3:\n  x = call w\nreturn x"),
        ("slots: w; inputs: x", "repeat 3:\n  let x = call w\n    x: x\nreturn x"),
        ("slots: w", "if 1 < 2:\n  let x = call w\nelse:\n  let x = 2\nreturn x"),
        ("slots: w", "let x = null\nparallel:\n  let x = call w\n  let y = call w\nreturn [x, y]"),
        ("slots: w", "let x = null\nlet ys = parallel for y in [1]:\n  let x = y\n  return x\nreturn [x, ys]"),
        ("slots: w", "repeat 2:\n  let x = call w\nlet x = 2\nreturn x"),
        ("slots: w", "let x = 1\nblock f():\n  let x = 2\n  return x\nreturn do f()"),
        ("slots: w", "let a = 1\nrepeat 2:\n  let { a } = call w\nreturn a"),
    ],
    "read-before-set": [
        ("slots: w", "let b = null\nrepeat 3:\n  let a = call w\n    b: b\n  b = call w\n    a: a\nreturn a"),
        ("slots: w", "parallel:\n  let a = call w\n  let b = call w\nreturn [a, b]"),
        ("slots: w", "loop until x is present (max: 3):\n  let x = call w\nreturn 1"),
        ("slots: w; inputs: x", "let y = x\nlet x = x + y\nreturn x"),
        ("slots: w", "if 1 < 2:\n  let x = call w\nreturn x"),
        ("slots: w", "repeat 2:\n  record 1 in log\nlet log = []\nreturn log"),
        ("slots: w", "try:\n  let x = call w\ncatch as e:\n  return [e, x]\nfinally:\n  call w\n    x: x\nreturn x"),
        ("slots: w", "if it all seems fine so far:\n  return 1\nlet x = call w\nreturn x"),
        ("slots: w", "let x = 1\nlet ys = [1, 2] | map:\n  item + x\nreturn ys"),
        ("slots: w", "repeat 2 as i:\n  if i > 1:\n    call w\n      x: x\n  let x = call w\nreturn x"),
        ("slots: w", "repeat 2:\n  for y in [1]:\n    call w\n      x: x\n  let x = call w\nreturn x"),
        ("slots: w", "repeat 2:\n  try:\n    call w\n      x: x\n  catch:\n    let x = call w\nreturn x"),
    ],
    "undeclared-input": [
        ("slots: w; inputs: topic", "call w\n  t: topic\nreturn topic"),
        ("config: x=1", "return { a: x, b: config.x }"),
        ("slots: w", "let a_list = [1]\nfor x in a_list:\n  call w\n    x: x\nreturn a_list"),
    ],
    "unbounded-loop": [
        ("slots: w", "loop (max: 3):\n  call w\n  break"),
        ("slots: w", "let x = 1\nloop until x > 3 (max: 10):\n  x = x + 1\nreturn x"),
        ("slots: w", "repeat 3:\n  call w\nfor x in [1]:\n  call w\n    x: x"),
        ("slots: w", "loop:  # prose: allow[unbounded-loop]\n  call w\n  break"),
    ],
    "placeholder-text": [
        ("slots: w", "let tries = [1]\nreturn { result: 1, attempts: tries.length }"),
        ("slots: w", 'return { title: "number of attempts", label: "list of labels", y_label: "number of rounds" }'),
        ("slots: w", 'return { status: "accepted", reason: "matched failure_criteria", kind: "list of names" }'),
        ("slots: w", 'call w\n  attempts: "number of attempts"\nreturn { n: "Number of attempts: 3.", m: "" }'),
        ("slots: w", 'let x = { attempts: "number of attempts" }\nreturn { error: null, note: "<b>bold</b>" }'),
        ("slots: w", 'return { result: "average of 3 and 4", mode: "all", unit: "number of cups" }'),
    ],
    "judge-needed": [
        ("slots: w", "let x = call w\nif x.good == true:\n  return 1\nreturn 2"),
        ("slots: w", "let x = call w\nif x accepts the draft:\n  return 1\nreturn 2"),
        ("slots: w", "let x = call w\nif x.score meets 0.8:\n  return 1\nreturn 2"),
        ("slots: w", 'let x = call w\nchoice x.label:\n  option "a":\n    return 1\n  option "b":\n    return 2'),
        ("slots: w; config: c=none", "let x = call w\nif c says x is a failure:\n  return 1\nreturn x"),
    ],
    "unused-variable": [
        ("slots: w", "let x = call w\nreturn x"),
        ("slots: w", "call w\nlet _x = call w\nlet { _a, b } = call w\nreturn b"),
        ("slots: w", "repeat 3 as i:\n  call w\n    i: i\nlet last = call w"),
        ("slots: w", "let x = call w\nif this reads well:\n  return 1\nreturn 2"),
        ("slots: w", 'let x = call w\nreturn "{x.text}"'),
        ("slots: w", "let r = parallel:\n  let a = call w\n  let b = call w\nreturn r"),
        ("slots: w", "parallel:\n  let a = call w\n  let b = call w"),
        ("slots: w", "let f = w\nlet x = call f\nreturn x"),
        ("slots: w", "let xs = for y in [1]:\n  let z = call w\n    y: y\nreturn xs"),
        ("slots: w", "for x in [1, 2]:\n  call w\nlet n = [1] | reduce(acc, x):\n  acc\nreturn n"),
        ("slots: w", "let x = 1\nif x < 2:\n  let y = call w"),
    ],
    "unused-slot": [
        ("slots: w", "return call w"),
        ("slots: w, v", "let xs = for s in [w, v]:\n  call s\nreturn xs"),
        ("slots: w, v", "return { result: call_it, winner: v }\nlet call_it = call w"),
        ("slots: critic, w", "let x = call w\nif critic accepts x:\n  return 1\nreturn x"),
        ("slots: guard", "let guard = call guard\nreturn guard"),
    ],
    "unused-config": [
        ("config: n=1", "return n"),
        ("config: n=1, m=2, k=3", 'return config.n + config["m"] + k'),
        ("config: n=1, m=2", "return config"),
        ("slots: w; config: bar=1", "let x = call w\nif x.score meets bar:\n  return x\nreturn 1"),
        ("config: n=1", "let n = n + 1\nreturn n"),
        ("slots: w; config: depth=1", 'return call w\n  prompt: "Mind the depth that was set."'),
        ("slots: w; config: model=none", "return call w\n  model: model"),
    ],
    "unused-input": [
        ("inputs: t", "return t"),
        ("slots: w; inputs: t", 'return call w\n  prompt: "About {t}"'),
        ("slots: w; inputs: t", "let t = t\nreturn t"),
        ("slots: w; inputs: topic", 'return call w\n  prompt: "Say what the topic is."'),
        ("slots: w; inputs: t", "let x = call w\nif x fits the t that was asked for:\n  return x\nreturn 1"),
        ("slots: w; inputs: limit", "let x = call w\nif x.a is below-the-limit or limit-like:\n  return x\nreturn 1\n"
         "block f():\n  if nobody minds the limit:\n    return 1"),
    ],
    "unused-block": [
        ("slots: w", "block polish(x):\n  return x\nreturn do polish(1)"),
        ("slots: w", "block again(x):\n  return do again(x)\nreturn do again(1)"),
        ("slots: w", "block a():\n  return do b()\nblock b():\n  return 1\ndo a()\nreturn 2"),
    ],
    "unused-agent": [
        ("", 'agent a:\n  model: sonnet\nreturn session: a\n  prompt: "hello"'),
        ("", 'agent a:\n  model: sonnet\nreturn resume: a\n  prompt: "more"'),
        ("", 'return session "hello"'),
    ],
    "unused-use": [
        ("slots: w", 'use "stdlib:refine" as improve\nreturn call improve'),
        ("slots: w", 'use "other/guard"\nlet x = call guard\nreturn x'),
        ("slots: w", "return call w"),
    ],
    "shadowing": [
        ("slots: w; inputs: x", "for y in [1]:\n  call w\n    x: x\nreturn y_of(1)"),
        ("slots: w", "repeat 2 as i:\n  call w\nrepeat 3 as i:\n  call w\nreturn 1"),
        ("slots: w", "let x = 1\nblock f(x):\n  return x\nreturn do f(x)"),
        ("slots: w", "try:\n  call w\ncatch as e:\n  call w\ntry:\n  call w\ncatch as e:\n  call w\nreturn 1"),
        ("slots: w", "let xs = parallel for x in [1]:\n  let y = x\n  return y\nlet y = 2\nreturn [xs, y]"),
        ("slots: guard", "let guard = call guard\nreturn guard"),
        ("", "let n = [[1]] | map:\n  item | map:\n    item + 1\nreturn n"),
    ],
    "unreachable": [
        ("slots: w", "call w\nreturn 1"),
        ("slots: w", "repeat 3:\n  if 1 < 2:\n    break\n  call w\nreturn 1"),
        ("slots: w", "return do f()\nblock f():\n  return 1"),
        ("slots: w", "let a = call w\nif a > 1:\n  return 1\nelif a > 2:\n  return 2\nelse:\n  return 3"),
        ("slots: w", "if it is good:\n  call w\nelif it is good:\n  call w\nreturn 1"),
        ("slots: w", "loop:\n  call w\n  break\nreturn 1"),
        ("slots: w", "if f(1):\n  call w\nelif f(1):\n  call w\nreturn 1"),
        ("slots: w", "let xs = parallel for x in [1]:\n  return x\nreturn xs"),
        ("slots: w", "try:\n  return call w\ncatch:\n  call w\nreturn 3"),
    ],
    "lost-value": [
        ("slots: w", "let a = parallel for x in [1]:\n  return call w\n    x: x\nreturn a"),
        ("slots: w", "parallel for x in [1]:\n  if x > 1:\n    return\n  if x > 2:\n    return null\n  call w\n1"),
        ("slots: w", "parallel for x in [1]:\n  return call w"),
        ("slots: w", "return do:\n  return call w"),
        ("slots: w", "parallel for x in [1]:\n  let ys = for y in [x]:\n    return y\n  call w\n    ys: ys\nreturn 1"),
        ("slots: w", "parallel:\n  let a = do:\n    return call w\n  let b = call w\nreturn [a, b]"),
        ("slots: w", "repeat 2:\n  return call w"),
    ],
}  # fmt: skip

CASES = [(name, declared, body) for name, cases in FOUND.items() for declared, body in cases]
TWINS = [(name, declared, body) for name, cases in SILENT.items() for declared, body in cases]


@pytest.mark.parametrize(("name", "declared", "body"), CASES)
def test_what_is_found_and_where(name: str, declared: str, body: str) -> None:
    text, expected = marked(pattern(body, declared))
    found = linted(text)
    assert places(found, name) == expected
    assert expected


@pytest.mark.parametrize(("name", "declared", "body"), TWINS)
def test_what_is_not_found(name: str, declared: str, body: str) -> None:
    found = linted(pattern(body, declared))
    assert not any(error.code in ("P101", "P102", "P111") for error in found.errors)
    assert places(found, name) == []


# --- what stands in sections -----------------------------------------------------------------------------------------

#: Sections before the body, with the body; the second is empty where the first has it.
SECTIONS_FOUND: dict[str, list[tuple[str, str]]] = {
    "unused-slot": [
        ("### Slots\n\n- `w`\n- `«v`", "return call w"),
        ("### Slots\n\n- `«v`: of no use\n- `«u`", "return 1"),
        ("### Slots\n\n- `«w`", 'return "w"'),
    ],
    "unused-config": [
        ("### Config\n\n- `«n` (default: 3)", "return 1"),
        ("### Config\n\n- `n`: 3\n- `«m`: 4", "return config.n"),
        ("### Config\n\n- `«n`: 3\n\n### Requires\n\n- `n`: what n is", "let m = 1\nreturn m"),
    ],
    "unused-input": [
        ("### Requires\n\n- `«t`: a topic", "return 1"),
        ("### Parameters\n\n- Pattern instance receives:\n    t: string -- a\n    «u: string -- b", "return t"),
        ("### Requires\n\n- «topic: string -- a", "let x = { topic: 1 }\nreturn x.topic"),
    ],
    "contradiction": [
        ("### Config\n\n- `n` (integer, default: 3)\n\n### Requires\n\n- `«n`: (optional, default 4)", "return n"),
        ("### Config\n\n- `n` (integer, default: 3)\n\n### Requires\n\n- `«n`: string -- n", "return n"),
        ("### Config\n\n- `c` (string, default: none)\n\n### Parameters\n\n- It receives:\n    «c: object -- c",
         "return c"),
    ],
    "ignored-fence": [
        ("### Delegation\n\n«```prosescript\nreturn 1\n```\n\n```prose\nreturn 2\n```", ""),
        ("### Delegation\n\n```prose\nreturn 2\n```\n\n«~~~prosescript\nreturn 1\n~~~", ""),
        ("### Execution\n\n- see\n\n  «```prosescript\n  return 1\n  ```\n\n### Delegation\n\n```prose\nreturn 2\n```",
         ""),
    ],
    "promised-output-missing": [
        ("### Returns\n\n- `result`: r\n- `«rounds`: n", "return { result: 1 }"),
        ("### Ensures\n\n- `«result`: r", "let results = 1\n{ results }"),
        ("### Maintains\n\n- `a`: r\n- `b`: r\n- `«c`: r",
         "if 1 < 2:\n  return { a: 1 }\nrepeat 3:\n  return { b: 1 }\nreturn null"),
    ],
    "score-not-bounded": [
        ("### Slots\n\n- `w`\n\n### Config\n\n- `«threshold` (number, default: 0.8)",
         "let x = call w\nif x.value meets threshold:\n  return 1\nreturn 2"),
        ("### Slots\n\n- `w`\n\n### Config\n\n- `«enough`: 0.5",
         "let x = call w\nif x.score >= config.enough:\n  return 1\nreturn 2"),
        ("### Slots\n\n- `w`\n\n### Config\n\n- `«quality-bar` (default: 0.9)",
         "let x = call w\nloop until x[0] reaches quality-bar (max: 3):\n  x = call w\nreturn x"),
    ],
}  # fmt: skip

SECTIONS_SILENT: dict[str, list[tuple[str, str]]] = {
    "contradiction": [
        ("### Config\n\n- `n` (integer, default: 3)\n\n### Requires\n\n- `n`: number -- (optional, default 3)",
         "return n"),
        ("### Config\n\n- `n` (integer, default: 3)\n\n### Requires\n\n- `n`: how many", "return n"),
        ("### Requires\n\n- `n`: (optional, default 4)", "return n"),
    ],
    "ignored-fence": [
        ("", "return 2"),
        ("### Notes\n\n```prosescript\nreturn 1\n```\n\n### Delegation\n\n```prose\nreturn 2\n```", ""),
        ("### Delegation\n\n```text\nreturn 1\n```\n\n```prose\nreturn 2\n```", ""),
    ],
    "promised-output-missing": [
        ("### Returns\n\n- `result`: r\n- `rounds`: n", "if 1 < 2:\n  return { rounds: 1 }\nreturn { result: 1 }"),
        ("### Returns\n\n- `result`: r\n- `rounds`: n", "let x = { result: 1 }\nreturn x"),
        ("### Returns\n\n- `result`: r", "if 1 < 2:\n  return call_of(1)\nreturn { other: 1 }"),
        ("### Returns\n\n- `result`: r", "if 1 < 2:\n  return { other: 1 }\nlet result = 2"),
        ("### Returns\n\n- `result`: r", "let xs = for x in [1]:\n  return { x: x }\nreturn { result: xs }"),
        ("### Returns\n\n- every brief is sent\n- Result: the text", "return { a: 1 }"),
    ],
    "score-not-bounded": [
        ("### Config\n\n- `threshold` (number, default: 0.8, min: 0, max: 1)",
         "let x = { score: 1 }\nif x.score meets threshold:\n  return 1\nreturn 2"),
        ("### Config\n\n- `threshold` (number, default: 8)",
         "let x = { score: 1 }\nif x.score meets threshold:\n  return 1\nreturn 2"),
        ("### Config\n\n- `share` (number, default: 0.5)", "let x = 1\nif x > share:\n  return 1\nreturn 2"),
        ("### Config\n\n- `threshold` (number, default: 0.8, max: 1)",
         "let x = { score: 1 }\nif x.score meets threshold:\n  return 1\nreturn 2"),
        ("### Config\n\n- `threshold` (number, default: 0.8)", "return threshold"),
    ],
}  # fmt: skip


def with_sections(sections: str, body: str, kind: str = "pattern") -> str:
    body = f"\n\n### Delegation\n\n```prose\n{body}\n```\n" if body else ""
    return f"---\nname: sample\nkind: {kind}\n---\n\n{sections}{body}"


@pytest.mark.parametrize(
    ("name", "sections", "body"), [(name, *case) for name, cases in SECTIONS_FOUND.items() for case in cases]
)
def test_what_is_found_in_sections(name: str, sections: str, body: str) -> None:
    clean, expected = marked(with_sections(sections, body))
    assert places(linted(clean), name) == expected
    assert expected


@pytest.mark.parametrize(
    ("name", "sections", "body"), [(name, *case) for name, cases in SECTIONS_SILENT.items() for case in cases]
)
def test_what_is_not_found_in_sections(name: str, sections: str, body: str) -> None:
    found = linted(with_sections(sections, body))
    assert found.errors == ()
    assert places(found, name) == []


def test_services_that_nothing_provides() -> None:
    services = "### Services\n\n- `author`: writes\n- «`nobody`\n\n```yaml\n- author\n- «no/body\n```\n\n"
    body = "### Execution\n\n```prose\nreturn call author\n```\n"
    clean, expected = marked(with_sections(services.replace("«`", "`«") + body, "", "system"))
    assert places(linted(clean, Named(author=Signature())), "missing-service") == expected
    called = linted(clean.replace("call author", "call nobody"), Named(author=Signature()))
    assert places(called, "missing-service") == expected[1:]  # the other one is called, which is P202
    assert places(linted(clean, Open()), "missing-service") == []
    assert places(linted(with_sections(services.replace("«", ""), "", "system"), Open()), "missing-service") == []


def test_outputs_of_functions() -> None:
    """A function with one output may give it bare; one with several has to give them all (L33)."""
    body = "### Execution\n\n```prose\nreturn { text: 1 }\n```\n"
    one = with_sections(f"### Returns\n\n- `result`: r\n\n{body}", "", "function")
    two, expected = marked(with_sections(f"### Returns\n\n- `text`: r\n- `«result`: r\n\n{body}", "", "function"))
    assert places(linted(one), "promised-output-missing") == []
    assert places(linted(two), "promised-output-missing") == expected


#: A function with a contract, which stands behind the body that calls it.
CALLEE = "\n## h\n\n### Parameters\n\n- `s`: string -- s\n- `n` (integer, min: 1): n\n"


@pytest.mark.parametrize(
    "body",
    [
        "return call h\n  s: «3\n  n: 3",
        "return h(«[1], 3)",
        "let x = call h(«{ a: 1 }, 3)\nreturn x",
        'return call h\n  s: "3"\n  n: 3',
        "let s = 3\nreturn h(s, 1 + 1)",
        "return call h\n  s: null\n  n: topic",
        "let h = 3\nreturn call h\n  s: 3",
    ],
)
def test_values_that_do_not_fit_a_contract(body: str) -> None:
    clean, expected = marked(with_sections("", body) + CALLEE)
    assert places(linted(clean), "misfit-binding") == expected


def test_a_text_is_never_called() -> None:
    """Of a variable that is only ever set to what is written out; what a service gave may be a reference (L17)."""
    clean, expected = marked(pattern('let t = "a text"\ncall «t\nlet u = call «t\nreturn u'))
    assert places(linted(clean, Named()), "always-fails") == expected
    assert places(linted(clean.replace('= "a', '= null\nt = x.a + "a'), Named()), "always-fails") == []


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("{ b: 1 }", "this is returned without `a`, which is promised"),
        ('"text"', "an object with `a`, `b` is promised, and this is none"),
        ("{ a: 1, b: 2, c: 3 }", None),
        ("null", None),
    ],
)
def test_each_return_of_a_function_has_its_outputs(returned: str, said: str | None) -> None:
    body = f"if t == 1:\n  return {returned}\nreturn {{ a: 1, b: 2 }}"
    text = with_sections("### Parameters\n\n- `t`: t\n\n### Returns\n\n- `a`: a\n- `b`: b", body, "function")
    found = [(one.name, one.diagnostic.line, one.diagnostic.message) for one in linted(text).findings]
    assert found == ([("promised-output-missing", 19, said)] if said else [])


def test_contracts_without_a_body_use_everything() -> None:
    contract = "### Requires\n\n- `topic`: t\n\n### Returns\n\n- `text`: t\n"
    assert linted(with_sections(contract, "", "function")).findings == ()


def test_inputs_that_instances_may_inherit_are_used() -> None:
    services = "### Services\n\n```yaml\n- name: twice\n  pattern: improve\n  with:\n    writer: author\n```\n\n"
    inputs = "### Requires\n\n- `topic`: t\n- `tone`: t\n\n"
    body = "### Execution\n\n```prose\nreturn call twice\n```\n"
    text = with_sections(services + inputs + body, "", "function")
    inheriting = Signature((Parameter("topic", False),))
    assert places(linted(text, Named(twice=inheriting)), "unused-input") == [(18, 4)]
    assert places(linted(text, Named()), "unused-input") == []  # nobody knows what the instance takes
    assert places(linted(text, Open()), "unused-input") == []


# --- instances -------------------------------------------------------------------------------------------------------

INSTANCES = """\
---
name: main
kind: function
---

### Services

```yaml
- name: twice
  pattern: improve
  with:
    «writer: author
    «critics: [one, author, two]
- name: nested
  pattern: improve
  with:
    writer:
      pattern: improve
      with:
        «writer: author
        critics: []
    critics: [two]
```

### Execution

```prose
return call twice
```

## improve

### Slots

- `writer`
- `critics`

### Delegation

```prose
let x = call writer
  topic: "rain"
  tone: "dry"
  model: sonnet
for critic in critics:
  call critic
    x: x
let first = call critics
  text: x
return first
```
"""


def signatures() -> Named:
    text = parse_type("string")
    assert text is not None
    return Named(
        author=Signature((Parameter("topic", True, text),)),
        one=Signature((Parameter("text", True, text),)),
        two=Signature(open=True),
        twice=Signature(open=True),
        nested=Signature(open=True),
    )


def test_bindings_that_are_dropped() -> None:
    text, expected = marked(INSTANCES)
    found = linted(text, signatures())
    assert places(found, "dropped-binding") == expected
    messages = [one.diagnostic.message for one in found.findings if one.name == "dropped-binding"]
    assert messages[:2] == [
        "of what `improve` sends to `writer`, `author` does not take `tone`",
        "of what `improve` sends to `critics`, `author` does not take `text`",
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("pattern: improve", "pattern: elsewhere"),
        ("writer: author", "writer: two"),
        ("  tone:", "  topic2:"),
    ],
)
def test_bindings_that_are_not_dropped_as_far_as_is_known(before: str, after: str) -> None:
    text, _ = marked(INSTANCES.replace(before, after))
    wide = Named(**{**signatures().signatures, "author": Signature(open=True)})
    assert places(linted(text, wide), "dropped-binding") == []


# --- messages, severities, fixes -------------------------------------------------------------------------------------


def test_every_rule_has_cases() -> None:
    tested = {name for table in (FOUND, SECTIONS_FOUND) for name, cases in table.items() if len(cases) >= 3}
    twins = {name for table in (SILENT, SECTIONS_SILENT) for name, cases in table.items() if len(cases) >= 3}
    elsewhere = {"dropped-binding", "misfit-binding", "missing-service", "unknown-output", "unused-allow"}
    assert tested == twins == set(RULES) - elsewhere


FIXED = [
    ("slots: w", "let x = null\nrepeat 3:\n  let x = call w\n    x: x\nreturn x",
     "let x = null\nrepeat 3:\n  x = call w\n    x: x\nreturn x"),
    ("slots: w", "let x = 1\nrepeat 2:\n  let   x = 2  # why\n  repeat 2:\n    let x = call w\nreturn x",
     "let x = 1\nrepeat 2:\n  x = 2  # why\n  repeat 2:\n    x = call w\nreturn x"),
    ("slots: w", "let x = call w\nreturn 1", "call w\nreturn 1"),
    ("slots: w", 'let x = session "a"\nlet y = call w\n  a: 1\nreturn y',
     'session "a"\nlet y = call w\n  a: 1\nreturn y'),
    ("slots: w", "let x = 1\nif 1 < 2:\n  let x = call w\nlet y = call w\nreturn x",
     "let x = 1\nif 1 < 2:\n  x = call w\ncall w\nreturn x"),
    ("slots: w", "return 1  # prose: allow[re-let]", "return 1"),
    ("slots: w", "# prose: allow[re-let] -- long ago\nreturn call w", "return call w"),
    ("slots: w", "let x = 1\nrepeat 2:\n  let x = 2  # prose: allow[re-let, shadowing]\nreturn x",
     "let x = 1\nrepeat 2:\n  let x = 2  # prose: allow[re-let]\nreturn x"),
]  # fmt: skip


@pytest.mark.parametrize(("declared", "before", "after"), FIXED)
def test_fixes(declared: str, before: str, after: str) -> None:
    fixed = fix(document(pattern(before, declared)), lambda _: Open())
    assert fixed.text == pattern(after, declared)
    assert fixed.mended
    assert all(RULES[finding.name].mends for finding in fixed.mended)
    assert fix(fixed.document, lambda _: Open()).mended == ()


@pytest.mark.parametrize(
    ("declared", "body"),
    [
        # The last statement of a body: a `let` gives it its value, an assignment none (L23).
        ("slots: w", "let x = 1\nif 1 < 2:\n  let x = call w"),
        ("slots: w", "let xs = for y in [1]:\n  let x = y\n  if x > 1:\n    let x = call w\nreturn xs"),
        # A collecting loop would no longer collect; other values may have no effect, but that is not said.
        ("slots: w", "let x = repeat 3:\n  return call w\nreturn 1"),
        ("slots: w", "let x = 1 + 1\nreturn 1"),
        # Another assignment would then assign what nothing declares.
        ("slots: w", "let x = call w\nx = call w\nreturn 1"),
        ("slots: w", "let { a } = call w\nreturn 1"),
    ],
)
def test_what_has_no_safe_fix(declared: str, body: str) -> None:
    text = pattern(body, declared)
    assert linted(text).findings
    fixed = fix(document(text), lambda _: Open())
    assert (fixed.text, fixed.mended) == (text, ())


def test_a_tail_let_has_a_finding_and_no_fix() -> None:
    (finding,) = linted(pattern("let x = 1\nif x > 0:\n  let x = call w", "slots: w")).findings
    assert (finding.name, finding.fix) == ("re-let", None)


def test_messages_and_hints() -> None:
    found = linted(pattern("let x = null\nrepeat 3 as round:\n  let x = call w\n    r: round\nreturn x", "slots: w"))
    (finding,) = found.findings
    assert finding.diagnostic.message == "`x` is the variable of line 13; this `let` only assigns it"
    assert finding.diagnostic.hint == "write the assignment: x = …"
    assert finding.fix is not None
    assert finding.fix.what == "drop `let`"
    (judged,) = linted(
        pattern("let v = call w\nif v has critical concerns:\n  return 1\nreturn v", "slots: w")
    ).findings
    assert judged.diagnostic.hint == "exact: v.critical_concerns == true"
    assert judged.diagnostic.severity.value == "note"


@pytest.mark.parametrize(
    ("key", "text", "stands"),
    [
        ("attempts", "number of attempted delegates", True),
        ("attempts", "Number of attempts", False),
        ("score", "average of all scores", True),
        ("items", "array of items", True),
        ("winner", "name of the winning delegate", False),
        ("winner_name", "name of the winner", True),
        ("question", "number of cups", False),
        ("a", "…", True),
        ("a", "<the result>", True),
        ("a", "a < b > c", False),
        ("count", "count", False),
        ("count", "number of 3", False),
    ],
)
def test_texts_that_stand_for_values(key: str, text: str, stands: bool) -> None:
    assert stands_for_a_value(key, text) is stands


def test_nothing_is_said_to_be_nowhere_in_a_body_that_could_be_read_only_in_part() -> None:
    text = pattern("let x = call w\nrepeat 2:\n  let x = 1\nreturn (((\nloop:\n  break", "slots: w, v; inputs: t")
    found = linted(text)
    assert [finding.name for finding in found.findings] == ["re-let", "unbounded-loop"]
    assert [error.code for error in found.errors] == ["P102"]
