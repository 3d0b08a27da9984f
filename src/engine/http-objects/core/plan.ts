import { canonicalJson } from '#util/canonical-json.ts';
import type { JsonObject } from '#util/json.ts';
import type { ObjectMeta } from '#util/kube-object.ts';
import { sha256Hex } from '#util/sha256.ts';
import type { Code } from '../spec/code-field.ts';
import { isReadOnly } from '../spec/object-rules.ts';
import type { ObjectSpec, RequestTemplate } from '../spec/object-spec.ts';
import { type PathValues, parametersOf, renderPath } from '../spec/path-template.ts';
import { matchOf } from './compare.ts';
import type { FarRequest, SentContent } from './record.ts';
import type { Blocked } from './view.ts';

/** What a valid spec asks for: its requests, with their paths. */
export interface ObjectPlan {
  readonly spec: ObjectSpec;
  readonly isReadOnly: boolean;
  /** The id is needed to observe the object. */
  readonly needsId: boolean;
  /** With `{id}` for the id. */
  readonly requests: Readonly<Partial<Record<PlannedRole, FarRequest>>> & {
    readonly observe: FarRequest;
  };
  /** What `find` compares, by field path. */
  readonly match: JsonObject;
  /** Hash of `params`. */
  readonly params: string;
  /** What the object has when it is as desired. */
  readonly content: SentContent;
  /** The answer to `create` has values for `secret`, which no later answer has. */
  readonly hasOneTimeSecret: boolean;
  /** Whether {@link content} is recorded, because the API does not return all of it. */
  readonly recordsContent: boolean;
}

/** Requests that name the object. */
export type PlannedRole = 'observe' | 'find' | 'create' | 'update' | 'delete';

/** Creates the plan of a spec, or returns why it has none. `inputVersions`: of the inputs in `secretFields`. Pure. */
export function planOf(
  spec: ObjectSpec,
  metadata: ObjectMeta,
  inputVersions: readonly string[],
): ObjectPlan | Blocked {
  const values = valuesOf(spec, metadata);
  const templates = {
    find: spec.find,
    create: spec.create,
    update: spec.update,
    delete: spec.delete,
  };
  const observe = render(spec.observe, spec, values);
  if ('reason' in observe) return observe;
  const requests: Partial<Record<PlannedRole, FarRequest>> = {};
  for (const [role, template] of Object.entries(templates)) {
    if (template === undefined) continue;
    const request = render(template, spec, values);
    if ('reason' in request) return request;
    requests[role as PlannedRole] = request;
  }
  const hasSecretFields = Object.keys(spec.secretFields).length > 0;
  return {
    spec,
    isReadOnly: isReadOnly(spec),
    needsId: parametersOf(spec.observe.path).includes('id'),
    requests: { ...requests, observe },
    match: matchOf(spec.desired, spec.find?.match ?? []),
    params: shortHash(spec.params),
    content: {
      desired: shortHash([spec.desired, spec.secretFields]),
      inputs: hasSecretFields ? shortHash(inputVersions) : '',
    },
    hasOneTimeSecret: Object.values(spec.secret?.data ?? {}).some(isOfCreate),
    recordsContent: hasSecretFields || spec.write === 'WhenChanged',
  };
}

/** Whether a value of `secret` is in the answer to `create`, and not in each observation. */
export function isOfCreate({ reads }: Code): boolean {
  return reads.has('body') || reads.has('headers') || reads.has('code');
}

function render(
  template: RequestTemplate,
  { slashesIn }: ObjectSpec,
  values: PathValues,
): FarRequest | Blocked {
  const rendered = renderPath(template.path, values, slashesIn);
  if ('failure' in rendered) return { reason: 'PathInvalid', message: rendered.failure };
  const { method, query, headers } = template;
  return {
    ...{ method, path: rendered.path },
    ...(Object.keys(query).length > 0 && { query }),
    ...(Object.keys(headers).length > 0 && { headers }),
  };
}

function valuesOf(spec: ObjectSpec, metadata: ObjectMeta): PathValues {
  const params = Object.entries(spec.params).map(([name, value]) => [name, String(value)]);
  return {
    ...Object.fromEntries(params),
    'metadata.name': metadata.name,
    'metadata.namespace': metadata.namespace,
    'metadata.uid': metadata.uid,
  };
}

function shortHash(value: unknown): string {
  return sha256Hex(canonicalJson(value)).slice(0, 16);
}
