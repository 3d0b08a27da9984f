export const jsonType = 'application/json';
export const yamlType = 'application/yaml';

/** What a server reads bodies of, as it lists them. */
export const bodyTypes = [jsonType, yamlType, 'application/vnd.kubernetes.protobuf'];

/** The media type without its parameters. */
export function mediaType(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

/** Who says no type at all sends JSON. */
export function isTypeOf(contentType: string | undefined, type: string): boolean {
  if (contentType === undefined || contentType === '') return type === jsonType;
  return mediaType(contentType) === type;
}
