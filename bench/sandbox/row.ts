/** A line of the table. */
export interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly target: string;
  readonly isMet: boolean;
}
