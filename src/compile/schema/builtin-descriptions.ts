/** What a server says of a component and of its fields. */
export interface ComponentDescription {
  readonly description?: string;
  /** By the names of fields. */
  readonly properties?: Readonly<Record<string, string>>;
}

/**
 * What the server version of {@link builtinDocuments} says of the components of the built-in kinds, by their names.
 * Large (0.7 MB) and asked for by people only: read when it is called, by a module of its own.
 */
export async function loadBuiltinDescriptions(): Promise<
  Readonly<Record<string, ComponentDescription>>
> {
  const { default: file } = await import('./builtin-descriptions.generated.json', {
    with: { type: 'json' },
  });
  return file.components;
}
