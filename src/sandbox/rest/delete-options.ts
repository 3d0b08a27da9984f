import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { fieldOf, isJsonList, objectField, stringField } from '../json-fields.ts';
import { type ApiRequest, dryRunErrors } from '../request/write-options.ts';
import { badRequest, invalid, notModelled, unsupportedMediaType } from '../status/api-errors.ts';
import { type FieldError, invalidField, unsupportedValue } from '../status/field-error.ts';
import { bodyTypes, isTypeOf, jsonType, NestingError, parseJson, yamlType } from './parse-json.ts';

export type Propagation = 'Background' | 'Foreground' | 'Orphan';

export interface DeleteOptions {
  readonly dryRun: boolean;
  /** Undefined = the default of the kind. */
  readonly propagation: Propagation | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly gracePeriodSeconds: number | undefined;
}

/** Reads the options of a DELETE from its body, or else from its query. @throws StatusError 400, 415 or 422 */
export function readDeleteOptions(
  { body: text, headers }: Pick<ApiRequest, 'body' | 'headers'>,
  query: URLSearchParams,
): DeleteOptions {
  if (text !== '') assertJsonType(headers['content-type']);
  const body = text === '' ? fromQuery(query) : parseBody(text);
  const dryRun = fieldOf(body, 'dryRun');
  const dryRuns = isJsonList(dryRun) ? dryRun.map(String) : [];
  const policy = stringField(body, 'propagationPolicy');
  const orphan = fieldOf(body, 'orphanDependents');
  const errors = [...policyErrors(policy, orphan), ...dryRunErrors(dryRuns)];
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  const preconditions = objectField(body, 'preconditions') ?? {};
  const grace = fieldOf(body, 'gracePeriodSeconds');
  return {
    dryRun: dryRuns.length > 0,
    propagation: propagationOf(policy, orphan),
    uid: stringField(preconditions, 'uid'),
    resourceVersion: stringField(preconditions, 'resourceVersion'),
    gracePeriodSeconds: typeof grace === 'number' ? grace : undefined,
  };
}

function assertJsonType(contentType: string | undefined): void {
  if (isTypeOf(contentType, jsonType)) return;
  if (isTypeOf(contentType, yamlType)) throw notModelled('DeleteOptions in YAML');
  throw unsupportedMediaType(bodyTypes);
}

function parseBody(text: string): JsonObject {
  try {
    const parsed = parseJson(text);
    if (isJsonObject(parsed)) return parsed;
  } catch (error) {
    if (error instanceof NestingError)
      throw badRequest(`couldn't get version/kind; json parse error: ${error.message}`);
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw badRequest(
    "couldn't get version/kind; json parse error: the body of a DELETE must be DeleteOptions",
  );
}

function fromQuery(query: URLSearchParams): JsonObject {
  const grace = query.get('gracePeriodSeconds');
  const policy = query.get('propagationPolicy');
  const orphan = query.get('orphanDependents');
  return {
    dryRun: query.getAll('dryRun'),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(orphan === null ? {} : { orphanDependents: orphan === 'true' }),
  };
}

const policies = ['Foreground', 'Background', 'Orphan'];

function policyErrors(policy: string | undefined, orphan: Json | undefined): readonly FieldError[] {
  if (policy === undefined) return [];
  const errors: FieldError[] = [];
  if (typeof orphan === 'boolean') {
    const detail = 'orphanDependents and deletionPropagation cannot be both set';
    errors.push(invalidField('propagationPolicy', policy, detail));
  }
  if (!policies.includes(policy))
    errors.push(unsupportedValue('propagationPolicy', policy, [...policies, 'nil']));
  return errors;
}

function propagationOf(
  policy: string | undefined,
  orphan: Json | undefined,
): Propagation | undefined {
  if (policy !== undefined) return policy as Propagation;
  if (typeof orphan === 'boolean') return orphan ? 'Orphan' : 'Background';
  return undefined;
}
