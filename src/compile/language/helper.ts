/** A function that the language has besides those of JSONata and Handlebars. Its documentation is made from the tables of these. */
export interface Helper<Context> {
  readonly name: string;
  /** The last one may end in `?` (may be left out) or `...` (any number of them). */
  readonly params: readonly string[];
  readonly returns: string;
  readonly doc: string;
  /** Missing arguments are passed on, also the first one. */
  readonly takesMissing?: true;
  readonly run: (args: readonly unknown[], context: Context) => unknown;
}
