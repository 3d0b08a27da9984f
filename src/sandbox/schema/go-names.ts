import names from './go-names.generated.json' with { type: 'json' };

/** What the server's messages say of a field beside its JSON name. */
export interface GoNames {
  /** A type with a name of its own: `v1.DNSPolicy`. */
  readonly typeName?: string;
  /** The embedded struct that has the field: `VolumeSource`. */
  readonly embeddedIn?: string;
}

const nullable: Readonly<Record<string, readonly string[]>> = names.nullable;
const types: Readonly<Record<string, Readonly<Record<string, string>>>> = names.types;
const embedded: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> =
  names.embedded;

/** The fields that are encoded as null when they are not set. */
export function nullableFields(component: string): ReadonlySet<string> {
  return new Set(nullable[component]);
}

/** The names for the fields of a component. */
export function goNamesOf(component: string): (field: string) => GoNames {
  const [ofTypes, structs] = [types[component], Object.entries(embedded[component] ?? {})];
  return (field) => {
    const typeName = ofTypes?.[field];
    const [embeddedIn] = structs.find(([, fields]) => fields.includes(field)) ?? [];
    return {
      ...(typeName === undefined ? {} : { typeName }),
      ...(embeddedIn === undefined ? {} : { embeddedIn }),
    };
  };
}
