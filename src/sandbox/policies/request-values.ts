import type { JsonObject } from '#util/json.ts';
import { toCel } from '../cel/cel-environment.ts';
import type { PolicyValues } from '../cel/policy-cel.ts';
import { Authorizer } from '../cel/policy-types.ts';
import type { PolicyVariable } from '../cel/policy-variables.ts';
import { objectField } from '../json-fields.ts';
import { withMetadata } from '../kinds/generation.ts';
import type { ServedKind } from '../kinds/served-kind.ts';
import type { AdmissionRequest } from '../rest/rest-context.ts';
import { nameOf } from './match-request.ts';

interface ValuesOptions {
  readonly request: AdmissionRequest;
  /** In its version the policy sees the objects. */
  readonly kind: ServedKind;
  readonly object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
  /** Undefined: the request has no namespace. */
  readonly namespace: JsonObject | undefined;
  readonly variables: readonly PolicyVariable[];
}

/** An expression that the sandbox cannot evaluate: it has no result. */
export class UnsupportedExpression extends Error {}

/** The values of the variables of a policy for a request. `variables` are evaluated when they are used, once. */
export function requestValues(options: ValuesOptions): PolicyValues {
  const { object, oldObject, namespace } = options;
  const values = {
    object: object === undefined ? null : toCel(object, undefined),
    oldObject: oldObject === undefined ? null : toCel(oldObject, undefined),
    request: toCel(requestObject(options), undefined),
    namespaceObject: namespace === undefined ? null : toCel(withoutFields(namespace), undefined),
    params: null,
    authorizer: new Authorizer(),
    variables: {},
  };
  for (const { name, compiled } of options.variables)
    Object.defineProperty(values.variables, name, {
      enumerable: true,
      get: once(() => {
        if (compiled.kind !== 'program') throw new UnsupportedExpression();
        try {
          return compiled.evaluate(values);
        } catch (error) {
          if (isUnsupported(error)) throw error;
          const why = error instanceof Error ? error.message : String(error);
          throw new Error(`composited variable ${JSON.stringify(name)} fails to evaluate: ${why}`, {
            cause: error,
          });
        }
      }),
    });
  return values;
}

/** Whether an error, or its cause, is an expression that the sandbox cannot evaluate. */
export function isUnsupported(error: unknown): boolean {
  if (error instanceof UnsupportedExpression) return true;
  return error instanceof Error && error.cause !== undefined && isUnsupported(error.cause);
}

function once(evaluate: () => unknown): () => unknown {
  let known: { readonly value: unknown } | undefined;
  return () => {
    known ??= { value: evaluate() };
    return known.value;
  };
}

/** `request`: an AdmissionRequest without its objects. */
function requestObject({ request, kind }: ValuesOptions): JsonObject {
  const { target, operation, dryRun, user } = request;
  const { subresource } = target;
  const sub = subresource === '' ? {} : { subResource: subresource };
  const requestSub = subresource === '' ? {} : { requestSubResource: subresource };
  const namespace = namespaceOf(request);
  return {
    uid: '',
    kind: kindOf(kind, subresource),
    resource: resourceOf(kind),
    ...sub,
    requestKind: kindOf(target.kind, subresource),
    requestResource: resourceOf(target.kind),
    ...requestSub,
    name: nameOf(request),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: user,
    dryRun,
    options: {
      apiVersion: 'meta.k8s.io/v1',
      kind: `${operation.charAt(0)}${operation.slice(1).toLowerCase()}Options`,
      ...(dryRun ? { dryRun: ['All'] } : {}),
    },
  };
}

function kindOf({ names }: ServedKind, subresource: string): JsonObject {
  if (subresource === 'scale') return { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  return { group: names.group, version: names.version, kind: names.kind };
}

function resourceOf({ names }: ServedKind): JsonObject {
  return { group: names.group, version: names.version, resource: names.plural };
}

/** The namespace of a request: a Namespace is in its own. Empty = none. */
export function namespaceOf(request: AdmissionRequest): string {
  const { kind, namespace } = request.target;
  if (isNamespace(kind)) return nameOf(request);
  return kind.names.namespaced ? namespace : '';
}

export function isNamespace({ names }: ServedKind): boolean {
  return names.group === '' && names.plural === 'namespaces';
}

/** Policies do not see all metadata of a namespace. */
function withoutFields(namespace: JsonObject): JsonObject {
  const {
    managedFields: _,
    ownerReferences: __,
    ...metadata
  } = objectField(namespace, 'metadata') ?? {};
  const { apiVersion: ___, kind: ____, ...rest } = namespace;
  return { ...rest, metadata };
}

/** The object without what a server adds after the policies that change it. */
export function withoutBirthFields(object: JsonObject): JsonObject {
  return withMetadata(withMetadata(object, 'uid', undefined), 'creationTimestamp', undefined);
}
