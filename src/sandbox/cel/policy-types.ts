import type { ObjectSchema } from '@marcbachmann/cel-js';

const groupKind: ObjectSchema = { group: 'string', version: 'string', kind: 'string' };
const groupResource: ObjectSchema = { group: 'string', version: 'string', resource: 'string' };

/** The fields of `request`, as the server declares them. */
export const requestFields: ObjectSchema = {
  kind: groupKind,
  resource: groupResource,
  subResource: 'string',
  requestKind: groupKind,
  requestResource: groupResource,
  requestSubResource: 'string',
  name: 'string',
  namespace: 'string',
  operation: 'string',
  userInfo: {
    username: 'string',
    uid: 'string',
    groups: 'list<string>',
    extra: 'map<string, list<string>>',
  },
  dryRun: 'bool',
  options: 'dyn',
};

/** The fields of `namespaceObject`: the server declares fewer than a Namespace has. */
export const namespaceFields: ObjectSchema = {
  metadata: {
    name: 'string',
    generateName: 'string',
    namespace: 'string',
    labels: 'map<string, string>',
    annotations: 'map<string, string>',
    UID: 'string',
    creationTimestamp: 'google.protobuf.Timestamp',
    deletionGracePeriodSeconds: 'int',
    deletionTimestamp: 'google.protobuf.Timestamp',
    generation: 'int',
    resourceVersion: 'string',
    finalizers: 'list<string>',
  },
  spec: { finalizers: 'list<string>' },
  status: { conditions: 'list', phase: 'string' },
};

/** An operation of a JSON patch: `JSONPatch{op: "add", path: "/a", value: 1}`. */
export class JsonPatchOperation {
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(fields: Readonly<Record<string, unknown>>) {
    this.fields = fields;
  }
}

/** Escapes a step of a JSON pointer. */
export function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** `authorizer` and what its functions return: in the sandbox, everything is allowed. */
export class Authorizer {
  get requestResource(): ResourceCheck {
    return new ResourceCheck();
  }
}
class PathCheck {}
class GroupCheck {}
class ResourceCheck {}
class Decision {}

type Handler = (...values: readonly never[]) => unknown;

/** The types of the authorizer, and their functions. */
export const authorizerTypes: {
  readonly types: Readonly<
    Record<string, { readonly ctor: new () => object; readonly fields?: Record<string, string> }>
  >;
  readonly functions: readonly (readonly [signature: string, handler: Handler])[];
} = {
  types: {
    ResourceCheck: { ctor: ResourceCheck },
    PathCheck: { ctor: PathCheck },
    GroupCheck: { ctor: GroupCheck },
    Decision: { ctor: Decision },
    Authorizer: { ctor: Authorizer, fields: { requestResource: 'ResourceCheck' } },
  },
  functions: [
    ['Authorizer.path(string): PathCheck', () => new PathCheck()],
    ['Authorizer.group(string): GroupCheck', () => new GroupCheck()],
    ['Authorizer.serviceAccount(string, string): Authorizer', () => new Authorizer()],
    ['GroupCheck.resource(string): ResourceCheck', () => new ResourceCheck()],
    ['ResourceCheck.subresource(string): ResourceCheck', (check: unknown) => check],
    ['ResourceCheck.namespace(string): ResourceCheck', (check: unknown) => check],
    ['ResourceCheck.name(string): ResourceCheck', (check: unknown) => check],
    ['ResourceCheck.fieldSelector(string): ResourceCheck', (check: unknown) => check],
    ['ResourceCheck.labelSelector(string): ResourceCheck', (check: unknown) => check],
    ['ResourceCheck.check(string): Decision', () => new Decision()],
    ['PathCheck.check(string): Decision', () => new Decision()],
    ['Decision.allowed(): bool', () => true],
    ['Decision.errored(): bool', () => false],
    ['Decision.error(): string', () => ''],
    ['Decision.reason(): string', () => 'The sandbox does not enforce RBAC'],
  ],
};
