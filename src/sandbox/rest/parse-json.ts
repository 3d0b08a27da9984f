import { parseJson as parseExactJson } from '#util/exact-json.ts';
import type { Json } from '#util/json.ts';
import { excessOf } from '#util/json-scan.ts';
import { badRequest, entityTooLarge } from '../status/api-errors.ts';
import { maxSandboxNesting, maxServerNesting, measureNesting, tooDeep } from './nesting.ts';

/** Of a body; ordinary objects take three times their text. The nesting has its own limits. */
const bodyLimits = { fromLength: 262_144, maxCost: 67_108_864, maxDepth: Infinity } as const;

/** The nesting is deeper than the server reads. */
export class NestingError extends SyntaxError {}

/**
 * Parses JSON as the server does.
 * @throws SyntaxError for invalid JSON, {@link NestingError} for nesting beyond the server's limit; StatusError 501 for nesting
 * beyond the sandbox's limit, 413 for a body that takes too much memory
 */
export function parseJson(text: string): Json {
  assertNesting(text);
  assertCost(text);
  return parseExactJson(text);
}

/** Parses the body of a patch. @throws StatusError 400 or 501 */
export function parsePatch(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badRequest(`error decoding patch: ${error.message}`);
  }
}

/** Parses the body of a strategic merge patch. @throws StatusError 400 or 501 */
export function parseStrategicPatch(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Only for excessive nesting, the server shows the parser's message without a prefix.
    const before = error instanceof NestingError ? '' : 'error decoding patch: ';
    throw badRequest(before.concat(error.message));
  }
}

/** @throws NestingError or StatusError 501, also for YAML in flow style */
export function assertNesting(text: string): void {
  const { depth, character } = measureNesting(text);
  if (depth > maxServerNesting)
    throw new NestingError(`invalid character '${character}' exceeded max depth`);
  if (depth > maxSandboxNesting) throw tooDeep();
}

/** @throws StatusError 413: 3 MiB of `{},` would become 80 MiB, also for YAML in flow style */
export function assertCost(text: string): void {
  if (excessOf(text, bodyLimits) === undefined) return;
  throw entityTooLarge(`The body takes more memory than ${bodyLimits.maxCost} bytes`);
}

export const jsonType = 'application/json';
export const yamlType = 'application/yaml';

/** The media types of bodies that a server accepts, in its order. */
export const bodyTypes = [jsonType, yamlType, 'application/vnd.kubernetes.protobuf'];

/** The media type without its parameters. */
export function mediaType(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

/** Without a content type, the body is JSON. */
export function isTypeOf(contentType: string | undefined, type: string): boolean {
  if (contentType === undefined || contentType === '') return type === jsonType;
  return mediaType(contentType) === type;
}
