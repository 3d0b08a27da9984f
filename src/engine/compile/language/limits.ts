/** Limits of one evaluation. Users who can create resources must not be able to block the process. */
export const limits = {
  /**
   * Steps of one evaluation: two for each evaluated node, plus the costs of functions and operators, which depend on
   * the size of their values (`builtin-functions.ts`).
   */
  steps: 500_000,
  /** Steps of one Handlebars template. Lower, because a helper call cannot be interrupted. */
  templateSteps: 100_000,
  /** Bytes of strings, lists and maps that one evaluation creates, including temporary values. */
  producedBytes: 16 * 1024 * 1024,
  /**
   * Nested evaluations. JSONata counts the members of lists, objects and groups as nested, so a group-by over a
   * thousand Pods needs several thousand. An infinite recursion still stops within the time limit.
   */
  depth: 10_000,
  /** Elements of a list created by an expression. */
  sequence: 10_000,
  /** Characters of a string. As a child may have 1 MiB, so may one text of it. */
  textLength: 1024 * 1024,
  /** Characters of a string that a function parses in one step, which nothing interrupts, and of a Handlebars template. */
  parsedLength: 256 * 1024,
  /** Characters of the input of a regular expression. */
  regexSubjectLength: 64 * 1024,
  /** Characters of a regular expression that is a value. */
  patternLength: 1_000,
  /** Instructions of a compiled regular expression; `(a{100}){9}` has about a thousand. */
  regexProgramSize: 2_000,
  /** Characters of the source of one expression. */
  sourceLength: 16 * 1024,
  /** Nesting of brackets in the source. */
  sourceDepth: 64,
  /** Nesting of `??` and `?:` in the left operands of others, which JSONata parses twice. */
  nestedDefaults: 8,
  /** Nodes of one syntax tree. */
  nodes: 5_000,
  /** Values (scalars, lists, objects) in a result. */
  resultNodes: 1_000_000,
  /** Levels of a result. */
  resultDepth: 200,
  /** Characters of a date, number or integer picture. */
  pictureLength: 128,
} as const;
