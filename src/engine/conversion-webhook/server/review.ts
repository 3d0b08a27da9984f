import { parseJson } from '#util/exact-json.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { ServedConversion } from './served-crds.ts';

/** The only version of reviews that is answered: `conversionReviewVersions: [v1]`. */
const reviewVersion = 'apiextensions.k8s.io/v1';

/** What the API server asks. */
export interface ConversionRequest {
  readonly uid: string;
  readonly desiredApiVersion: string;
  readonly objects: readonly JsonObject[];
}

/** Parses the body of a request. A text: why it is no review. Pure; never throws. */
export function parseReview(body: string): ConversionRequest | string {
  const review = parsed(body);
  if (!isJsonObject(review)) return 'Expected a ConversionReview as JSON';
  const { apiVersion, kind, request } = review;
  if (kind !== 'ConversionReview' || apiVersion !== reviewVersion)
    return `Expected a ConversionReview of ${reviewVersion}, found "${String(kind)}" of "${String(apiVersion)}"`;
  if (!isJsonObject(request)) return 'Expected a request in the ConversionReview';
  const { uid, desiredAPIVersion, objects } = request;
  if (typeof uid !== 'string' || typeof desiredAPIVersion !== 'string' || !Array.isArray(objects))
    return 'Expected "uid", "desiredAPIVersion" and "objects" in the request of the ConversionReview';
  if (!objects.every(isJsonObject)) return 'Expected "objects" to be a list of objects';
  return { uid, desiredApiVersion: desiredAPIVersion, objects };
}

/** What became of a request. `rejected`: an object cannot be written in this version. `failed`: the request is wrong, or there is an error. */
export type ReviewResult =
  | { readonly result: 'converted'; readonly objects: readonly JsonObject[] }
  | { readonly result: 'rejected' | 'failed'; readonly message: string };

/**
 * Converts all objects of a request. The API server uses all of them or none (its `webhook_converter.go` compares the numbers): with an object
 * that cannot be converted, the whole request fails, and the message names the object.
 */
export function convertAll(
  { desiredApiVersion, objects }: ConversionRequest,
  { converter, group, kind, versions }: ServedConversion,
): ReviewResult {
  const slash = desiredApiVersion.lastIndexOf('/');
  const version = desiredApiVersion.slice(slash + 1);
  if (desiredApiVersion.slice(0, slash) !== group || !versions.includes(version))
    return {
      result: 'failed',
      message: `Kind "${kind}" has no version "${desiredApiVersion}"; its versions are ${versions.join(', ')}`,
    };
  const converted: JsonObject[] = [];
  for (const object of objects) {
    const { problem, object: result } = converter.convert(object, version);
    if (result === undefined)
      return { result: 'rejected', message: `${kind} "${nameOf(object)}": ${problem}` };
    converted.push(result);
  }
  return { result: 'converted', objects: converted };
}

/** The body of the response. @throws RangeError for an object that is nested deeper than the stack: no converted one is */
export function reviewResponse(uid: string, answer: ReviewResult): string {
  const response =
    answer.result === 'converted'
      ? {
          uid,
          result: { status: 'Success' },
          convertedObjects: answer.objects.map(withoutManagedFields),
        }
      : { uid, result: { status: 'Failure', message: answer.message } };
  return JSON.stringify({ apiVersion: reviewVersion, kind: 'ConversionReview', response });
}

/**
 * The API server uses labels and annotations alone of what is returned in metadata (`restoreObjectMeta` of its `webhook_converter.go`). The
 * managed fields are as large, and as deep, as the object.
 */
function withoutManagedFields(object: JsonObject): JsonObject {
  if (!isJsonObject(object.metadata)) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** The body of a response to a request without a `uid`: the client of the API server shows the message of a `Status`. */
export function statusResponse(code: number, message: string): string {
  const reason = code === 413 ? 'RequestEntityTooLarge' : code === 404 ? 'NotFound' : 'BadRequest';
  const status = { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure' };
  return JSON.stringify({ ...status, message, reason, code });
}

function nameOf({ metadata }: JsonObject): string {
  const { namespace, name } = isJsonObject(metadata) ? metadata : {};
  return namespace === undefined ? String(name) : `${String(namespace)}/${String(name)}`;
}

function parsed(body: string): unknown {
  try {
    return parseJson(body);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
