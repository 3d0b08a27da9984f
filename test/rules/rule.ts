/** A rule of `docs/definition/`, and the tests of it. */
export interface Rule {
  /** The rule in one sentence. */
  readonly rule: string;
  /**
   * The tests that show it: `path of the test file › text of its title`, the text as it stands in the file, or the path of a fixture alone.
   * The last ones may run on a real control plane (`test/integration`).
   */
  readonly shownBy: readonly string[];
}

/** The rules of one section of `docs/definition/`. */
export interface RuleSection {
  readonly heading: string;
  /** The page with the section, relative to `docs/definition/`, and its anchor. */
  readonly page: string;
  readonly rules: readonly Rule[];
}
