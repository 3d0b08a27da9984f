/** A function that the language has besides those of JSONata and Handlebars. Its documentation is made from the tables of these. */
export interface Helper<Context> {
  readonly name: string;
  /** The last one may end in `?` (may be left out) or `...` (any number of them). */
  readonly params: readonly string[];
  readonly returns: string;
  readonly doc: string;
  /** One use of it, for the documentation; `gives` is left out where that is another thing each time. */
  readonly example: { readonly source: string; readonly gives?: unknown };
  /** Missing arguments are passed on, also the first one. */
  readonly takesMissing?: true;
  readonly run: (args: readonly unknown[], context: Context) => unknown;
}
