import type { JsonObject } from '#util/json.ts';

/** The media type in which kubectl requests OpenAPI v2. */
export const openApiV2Protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

/** The same for the header `Content-Type`, where `@` is not allowed. */
export const openApiV2ContentType = openApiV2Protobuf.replace('@', '.');

const title = 'Kubernetes';
const version = 'unversioned';

/** An OpenAPI v2 document that describes no kinds; the descriptions are in version 3. */
export function openApiV2(): JsonObject {
  return { swagger: '2.0', info: { title, version }, paths: {}, definitions: {} };
}

/** The same as a message `openapi.v2.Document` (swagger = 1, info = 2, paths = 8, definitions = 9). All of its bytes are ASCII. */
export function openApiV2Message(): string {
  const info = field(1, title) + field(2, version);
  return field(1, '2.0') + field(2, info) + field(8, '') + field(9, '');
}

/** A field of a length-delimited type. Number and length take one byte each. */
function field(number: number, content: string): string {
  return String.fromCharCode((number << 3) | 2, content.length) + content;
}
