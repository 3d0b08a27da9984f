/**
 * How the versions of a kind differ: the part `conversions` of a definition as plain JSON. `here` is a field of the version, `there` one of
 * the hub. Fields without a rule are copied by their path.
 */
export interface ConversionRules {
  /** The version to and from which all others are converted. Independent of the storage version. */
  readonly hub: string;
  readonly versions: readonly VersionRules[];
}

/** How one version differs from the hub. */
export interface VersionRules {
  readonly version: string;
  readonly fields: readonly FieldRule[];
  /** Paths of fields that are given up on purpose, of either side. */
  readonly drop: readonly string[];
}

/** One field that has another place, other values or another form in the hub. */
export interface FieldRule {
  /** The path in the version: `spec.rules[].port`. `[]` is each item of a list, or each value of a map. */
  readonly here: string;
  /** The path in the hub, with as many `[]`. */
  readonly there: string;
  /** The values of `there` by those of `here`. Other values are preserved. */
  readonly values?: Readonly<Record<string, string>>;
  /** The form of the value, from `here` to `there`. */
  readonly as?: FieldForm;
}

/** How the value of `here` becomes that of `there`. Each form has its inverse, for a hub that has the older form. */
export type FieldForm =
  | 'durationToSeconds'
  | 'secondsToDuration'
  | 'textToYaml'
  | 'yamlToText'
  /** A list of texts, and a list of objects with the text in this field. */
  | { readonly itemsToObjects: string }
  | { readonly objectsToItems: string }
  /** A map, and a list of its values with the key in this field. */
  | { readonly mapToList: string }
  | { readonly listToMap: string };

/** The forms that are written as one word. */
export const plainForms = [
  'durationToSeconds',
  'secondsToDuration',
  'textToYaml',
  'yamlToText',
] as const;

/** The forms with a field name. */
export const namedForms = ['itemsToObjects', 'objectsToItems', 'mapToList', 'listToMap'] as const;

/** What is wrong with rules. */
export interface ConversionProblem {
  /** RFC 6901 pointer into the rules: `/versions/0/fields/1/here`. Callers add positions. */
  readonly path: string;
  /** The key at the path is wrong, not its value. @default 'value' */
  readonly at?: 'key';
  readonly message: string;
  readonly hint?: string;
  /** A warning: the conversion loses nothing, but may not mean what its author wants. */
  readonly severity: 'error' | 'warning';
  /** The schema of definitions reports it, too. @default undefined */
  readonly isOfSchema?: true;
}
