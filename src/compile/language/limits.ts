/** The bounds of one evaluation. Whoever may create resources must not be able to stop the process with their contents. */
export const limits = {
  /** Steps of one evaluation, two for each node evaluated, and what functions and operators take by the size of their values (`costs.ts`). */
  steps: 500_000,
  /** The same for a Handlebars text, of which a call of a helper is not interrupted. */
  templateSteps: 100_000,
  /** Bytes of texts, lists and maps that one evaluation makes, those that it drops included. */
  producedBytes: 16 * 1024 * 1024,
  /**
   * Nested evaluations. JSONata counts the members of lists, objects and groups that it evaluates side by side as nested,
   * so a group-by over a thousand Pods needs some thousands; an endless recursion is stopped well within the time limit.
   */
  depth: 10_000,
  /** Elements of a list made by an expression. */
  sequence: 10_000,
  /** Characters of a text. */
  textLength: 256 * 1024,
  /** Characters that a regular expression is tried on. */
  regexSubjectLength: 64 * 1024,
  /** Time that one evaluation may search with regular expressions. One search is linear in the text, thousands of them need not be. */
  searchMs: 500,
  /** Instructions of a compiled regular expression; `(a{100}){9}` has about a thousand. */
  regexProgramSize: 2_000,
  /** Characters of the source of one expression. */
  sourceLength: 16 * 1024,
  /** Brackets within brackets in the source. */
  sourceDepth: 64,
  /** `??` and `?:` within the left sides of others: JSONata parses these sides twice. */
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
