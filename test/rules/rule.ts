/** A rule of `docs/definition.md`, and where it is shown to hold. */
export interface Rule {
  /** The rule in one sentence. */
  readonly rule: string;
  /**
   * The tests that show it: `path of the test file › text of its title`, the text as it stands in the file, or the path of a fixture alone.
   * The last ones may run on a real control plane (`test/integration`).
   */
  readonly shownBy: readonly string[];
}

/** The rules of one section of the page. */
export interface RuleSection {
  /** As the heading says, from its number on. */
  readonly heading: string;
  readonly rules: readonly Rule[];
}
