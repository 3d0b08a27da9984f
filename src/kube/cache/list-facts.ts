/** What is known of a list while it is being stored. */
export interface ListFacts {
  readonly number: number;
  readonly version: string;
  /** The list is older than what was seen before it was asked for: it replaces everything. */
  readonly rewritten: boolean;
}
