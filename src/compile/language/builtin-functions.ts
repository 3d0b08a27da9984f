/** What the checks and the analysis of references must know of JSONata's built-in functions. */
export interface BuiltinFunction {
  /** Fewer arguments than these: the context is taken for the first one. */
  readonly usesContextBelow?: number;
  /** What it gives is (a selection of) its first argument, or of all its arguments; otherwise a new value. */
  readonly gives?: 'first' | 'all';
}

const plain: BuiltinFunction = {};
const onContext: BuiltinFunction = { usesContextBelow: 1 };
const onContext2: BuiltinFunction = { usesContextBelow: 2 };
const onContext3: BuiltinFunction = { usesContextBelow: 3 };
const passesFirst: BuiltinFunction = { gives: 'first' };

/** Without `$eval`, which is not there. */
export const builtinFunctions: ReadonlyMap<string, BuiltinFunction> = new Map(
  Object.entries({
    abs: onContext,
    append: { gives: 'all' },
    assert: plain,
    average: plain,
    base64decode: onContext,
    base64encode: onContext,
    boolean: onContext,
    ceil: onContext,
    clone: { usesContextBelow: 1, gives: 'first' },
    contains: onContext2,
    count: plain,
    decodeUrl: onContext,
    decodeUrlComponent: onContext,
    distinct: passesFirst,
    each: onContext2,
    encodeUrl: onContext,
    encodeUrlComponent: onContext,
    error: plain,
    exists: plain,
    filter: plain,
    floor: onContext,
    formatBase: onContext,
    formatInteger: onContext2,
    formatNumber: onContext2,
    fromMillis: onContext,
    join: plain,
    keys: onContext,
    length: onContext,
    lookup: onContext2,
    lowercase: onContext,
    map: plain,
    match: onContext2,
    max: plain,
    merge: plain,
    min: plain,
    not: onContext,
    number: onContext,
    pad: onContext2,
    parseInteger: onContext2,
    power: onContext2,
    random: plain,
    reduce: plain,
    replace: onContext3,
    reverse: passesFirst,
    round: onContext,
    shuffle: passesFirst,
    sift: onContext2,
    single: plain,
    sort: passesFirst,
    split: onContext2,
    spread: onContext,
    sqrt: onContext,
    string: onContext,
    substring: onContext2,
    substringAfter: onContext2,
    substringBefore: onContext2,
    sum: plain,
    toMillis: onContext,
    trim: onContext,
    type: plain,
    uppercase: onContext,
    zip: plain,
  } satisfies Record<string, BuiltinFunction>),
);
