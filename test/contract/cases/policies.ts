import type { Json, JsonObject } from '#util/json.ts';
import type { ContractCase, ContractStep, Expectation } from '../driver/index.ts';
import { apply, get, jsonPatch, merge, post, put, remove } from './requests.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const apiVersion = 'admissionregistration.k8s.io/v1';
export const policies = `${group}/validatingadmissionpolicies`;
export const bindings = `${group}/validatingadmissionpolicybindings`;
export const mutating = `${group}/mutatingadmissionpolicies`;
export const mutatingBindings = `${group}/mutatingadmissionpolicybindings`;
export const maps = '/api/v1/namespaces/$(ns)/configmaps';

/** Selects requests for ConfigMaps, or others. */
function rule(more: JsonObject = {}): JsonObject {
  return {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['CREATE', 'UPDATE'],
    resources: ['configmaps'],
    ...more,
  };
}

export interface PolicyOptions {
  readonly name?: string;
  readonly rule?: JsonObject;
  readonly constraints?: JsonObject;
  readonly spec?: JsonObject;
}

export function policy(validations: Json, options: PolicyOptions = {}): JsonObject {
  const { name = '$(ns)', constraints = {}, spec = {} } = options;
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [rule(options.rule)], ...constraints },
      validations,
      ...spec,
    },
  };
}

export function changing(expressions: readonly string[], options: PolicyOptions = {}): JsonObject {
  const { name = '$(ns)', constraints = {}, spec = {} } = options;
  return {
    apiVersion,
    kind: 'MutatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [rule(options.rule)], ...constraints },
      reinvocationPolicy: 'Never',
      mutations: expressions.map((expression) => ({
        patchType: 'JSONPatch',
        jsonPatch: { expression },
      })),
      ...spec,
    },
  };
}

const ofCase = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$(ns)' } } };

export function binding(spec: JsonObject = {}, name = '$(ns)'): JsonObject {
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'], matchResources: ofCase, ...spec },
  };
}

export function mutatingBinding(spec: JsonObject = {}, name = '$(ns)'): JsonObject {
  return {
    apiVersion,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, matchResources: ofCase, ...spec },
  };
}

export function map(data: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', ...metadata }, data };
}

export const dry = (path: string) => `${path}?dryRun=All`;

/** A policy is in effect a moment after it was written: asks until the answer is as it is then. */
function untilCreated(data: JsonObject, expect: Expectation, path = maps): ContractStep {
  return { untilAnswer: post(dry(path), map(data), expect) };
}

const untilDenied = untilCreated({ a: 'bad' }, { status: 422 });

/** A policy and its binding in effect, then steps. */
export function enforced(
  name: string,
  stored: JsonObject,
  steps: readonly ContractStep[],
  { bound = binding(), until = untilDenied }: { bound?: JsonObject; until?: ContractStep } = {},
): ContractCase {
  return {
    name,
    steps: [
      post(policies, stored, { status: 201 }),
      post(bindings, bound, { status: 201 }),
      until,
      ...steps,
    ],
  };
}

export const notBad = { expression: "object.data.a != 'bad'" };

const enforcement: readonly ContractCase[] = [
  enforced('a create that violates a policy is denied, also as a dry run', policy([notBad]), [
    post(dry(maps), map({ a: 'bad' }), { status: 422 }),
    post(maps, map({ a: 'bad' }), { status: 422, body: { reason: 'Invalid' } }),
    post(maps, map({ a: 'good' }), { status: 201 }),
  ]),
  enforced(
    'an update that violates a policy is denied, whatever the request is',
    policy([notBad]),
    [
      post(maps, map({ a: 'good' }), { status: 201 }),
      put(`${maps}/x`, map({ a: 'bad' }), { status: 422 }),
      merge(`${maps}/x`, { data: { a: 'bad' } }, { status: 422 }),
      jsonPatch(`${maps}/x`, [{ op: 'replace', path: '/data/a', value: 'bad' }], { status: 422 }),
      apply({ to: `${maps}/x`, by: 'a', body: map({ b: 'fine' }), expect: { status: 200 } }),
      apply({
        to: `${maps}/x?force=true`,
        by: 'a',
        body: map({ a: 'bad' }),
        expect: { status: 422 },
      }),
      apply({
        to: `${maps}/y`,
        by: 'a',
        body: map({ a: 'bad' }, { name: 'y' }),
        expect: { status: 422 },
      }),
      get(`${maps}/x`, { status: 200, body: { data: { a: 'good', b: 'fine' } } }),
    ],
  ),
  enforced(
    'the message of a rule is its own, a reason decides the code',
    policy([{ expression: "object.data.a != 'bad'", message: '  a is bad ', reason: 'Forbidden' }]),
    [post(maps, map({ a: 'bad' }), { status: 403, body: { reason: 'Forbidden' } })],
    { until: untilCreated({ a: 'bad' }, { status: 403 }) },
  ),
  enforced(
    'an object that a policy finds too large is answered with 413',
    policy([{ ...notBad, reason: 'RequestEntityTooLarge' }]),
    [post(maps, map({ a: 'bad' }), { status: 413 })],
    { until: untilCreated({ a: 'bad' }, { status: 413 }) },
  ),
  enforced(
    'a message can be computed, and falls back where that fails or has several lines',
    policy([
      {
        expression: "object.data.a != 'bad'",
        messageExpression: "'a of ' + object.metadata.name + ' is ' + object.data.a",
      },
      {
        expression: "!('b' in object.data)",
        messageExpression: 'string(object.data.nothing)',
        message: 'b is there',
      },
      { expression: "!('c' in object.data)", messageExpression: "'one\\ntwo'" },
      { expression: "!('d' in object.data)", messageExpression: "'  '", message: 'd is there' },
    ]),
    [
      post(maps, map({ a: 'bad' }), { status: 422 }),
      post(maps, map({ a: 'good', b: '' }), { status: 422 }),
      post(maps, map({ a: 'good', c: '' }), { status: 422 }),
      post(maps, map({ a: 'good', d: '' }), { status: 422 }),
    ],
  ),
  enforced(
    'of several rules that are violated the first is reported',
    policy([
      { expression: "object.data.a != 'bad'", message: 'first' },
      { expression: "object.data.a != 'bad'", message: 'second' },
    ]),
    [post(maps, map({ a: 'bad' }), { status: 422, message: /first$/ })],
  ),
  enforced(
    'a binding that warns takes the object with a warning for each rule',
    policy([
      { expression: "object.data.a != 'bad'", message: 'first' },
      { expression: 'size(object.data) > 1', message: 'second' },
    ]),
    [
      post(maps, map({ a: 'bad' }), { status: 201 }),
      merge(`${maps}/x`, { data: { a: 'good' } }, { status: 200 }),
      merge(`${maps}/x`, { data: { b: 'more' } }, { status: 200 }),
    ],
    {
      bound: binding({ validationActions: ['Warn'] }),
      until: { untilAnswer: post(dry(maps), map({ a: 'bad' }), { status: 201, warning: /first/ }) },
    },
  ),
  {
    name: 'a binding that only audits takes the object without a word',
    steps: [
      post(policies, policy([notBad]), { status: 201 }),
      post(bindings, binding({ validationActions: ['Audit'] }), { status: 201 }),
      ...control(),
      post(maps, map({ a: 'bad' }), { status: 201 }),
    ],
  },
  {
    name: 'a policy without a binding has no effect',
    steps: [
      post(policies, policy([notBad]), { status: 201 }),
      ...control(),
      post(maps, map({ a: 'bad' }), { status: 201 }),
    ],
  },
  {
    name: 'a binding without its policy has no effect, until the policy is there',
    steps: [
      post(bindings, binding(), { status: 201 }),
      ...control(),
      post(dry(maps), map({ a: 'bad' }), { status: 201 }),
      post(policies, policy([notBad]), { status: 201 }),
      untilDenied,
    ],
  },
  enforced('a binding that is deleted has no effect any more', policy([notBad]), [
    remove(`${bindings}/$(ns)`, undefined, { status: 200 }),
    untilCreated({ a: 'bad' }, { status: 201 }),
    post(maps, map({ a: 'bad' }), { status: 201 }),
  ]),
  enforced('a policy that is deleted has no effect any more', policy([notBad]), [
    remove(`${policies}/$(ns)`, undefined, { status: 200 }),
    untilCreated({ a: 'bad' }, { status: 201 }),
  ]),
  enforced('a changed policy is in effect', policy([notBad]), [
    merge(
      `${policies}/$(ns)`,
      { spec: { validations: [{ expression: "object.data.a != 'worse'" }] } },
      { status: 200, body: { metadata: { generation: 2 } } },
    ),
    untilCreated({ a: 'worse' }, { status: 422 }),
    post(maps, map({ a: 'bad' }), { status: 201 }),
  ]),
  enforced('two bindings of a policy are evaluated each', policy([{ ...notBad, message: 'no' }]), [
    post(bindings, binding({ policyName: '$(ns)', validationActions: ['Warn'] }, '$(ns)-warn'), {
      status: 201,
    }),
    {
      untilAnswer: post(dry(maps), map({ a: 'bad' }), { status: 422, warning: /-warn'/ }),
    },
    post(maps, map({ a: 'bad' }), { status: 422 }),
  ]),
];

/** A second policy, in effect after what was written before it. */
export function control(): readonly ContractStep[] {
  const name = '$(ns)-control';
  const message = { expression: "object.data.a != 'probe'" };
  return [
    post(policies, policy([message], { name }), { status: 201 }),
    post(bindings, binding({}, name), { status: 201 }),
    untilCreated({ a: 'probe' }, { status: 422 }),
  ];
}

const conditions: readonly ContractCase[] = [
  enforced(
    'a match condition that is false leaves the policy out',
    policy([notBad], {
      spec: {
        matchConditions: [
          { name: 'not-kept', expression: "!('keep' in object.?metadata.?labels.orValue({}))" },
        ],
      },
    }),
    [
      post(maps, map({ a: 'bad' }, { labels: { keep: 'yes' } }), { status: 201 }),
      post(maps, map({ a: 'bad' }, { name: 'y' }), { status: 422 }),
    ],
  ),
  enforced(
    'a match condition that fails denies, unless another one is false',
    policy([notBad], {
      spec: {
        matchConditions: [
          { name: 'fails', expression: "object.data.kind == 'strict'" },
          { name: 'other', expression: "object.data.a != 'free'" },
        ],
      },
    }),
    [
      post(maps, map({ a: 'good' }), { status: 422 }),
      post(maps, map({ a: 'free' }), { status: 201 }),
      post(maps, map({ a: 'good', kind: 'lax' }, { name: 'y' }), { status: 201 }),
    ],
  ),
  enforced(
    'a match condition that fails leaves a policy out that ignores failures',
    policy([notBad], {
      spec: {
        failurePolicy: 'Ignore',
        matchConditions: [{ name: 'fails', expression: "object.data.kind == 'strict'" }],
      },
    }),
    [
      post(maps, map({ a: 'bad' }), { status: 201 }),
      post(maps, map({ a: 'bad', kind: 'strict' }, { name: 'y' }), { status: 422 }),
    ],
    { until: untilCreated({ a: 'bad', kind: 'strict' }, { status: 422 }) },
  ),
  enforced(
    'a rule that fails denies',
    policy([{ expression: "object.data.a != 'bad'" }, { expression: "object.data.b != 'bad'" }]),
    [
      post(maps, map({ a: 'good' }), { status: 422 }),
      post(maps, { ...map({}), data: null }, { status: 422 }),
      post(maps, map({ a: 'good', b: 'good' }), { status: 201 }),
    ],
  ),
  enforced(
    'a rule that fails does not deny where failures are ignored',
    policy([{ expression: "object.data.a != 'bad'" }, { expression: "object.data.b != 'bad'" }], {
      spec: { failurePolicy: 'Ignore' },
    }),
    [post(maps, map({ a: 'good' }), { status: 201 })],
  ),
  enforced(
    'rules use variables, which use those before them',
    policy([{ expression: 'variables.isGood', messageExpression: "'a is ' + variables.a" }], {
      spec: {
        variables: [
          { name: 'a', expression: "object.?data[?'a'].orValue('none') + ''" },
          { name: 'isGood', expression: "variables.a != 'bad'" },
        ],
      },
    }),
    [
      post(maps, map({ a: 'bad' }), { status: 422 }),
      post(maps, map({ b: 'bad' }), { status: 201 }),
    ],
  ),
  enforced(
    'a variable that fails is named where it is used',
    policy([{ expression: "object.data.a == 'free' || variables.b != 'bad'" }], {
      spec: { variables: [{ name: 'b', expression: 'object.data.b' }] },
    }),
    [
      post(maps, map({ a: 'good' }), { status: 422 }),
      post(maps, map({ a: 'free' }), { status: 201 }),
    ],
  ),
  enforced(
    'a rule knows the request and the namespace',
    policy([
      { expression: "object.data.a != 'bad'" },
      {
        expression: 'object.data.?shown.orValue("") != "request"',
        messageExpression:
          "request.operation + ' ' + request.resource.group + '/' + request.resource.version + '/' + request.resource.resource + ' ' + request.kind.kind + ' ' + request.namespace + ' ' + request.name + ' ' + string(request.dryRun) + ' ' + request.requestKind.kind",
      },
      {
        expression: 'object.data.?shown.orValue("") != "namespace"',
        messageExpression:
          "namespaceObject.metadata.name + ' ' + namespaceObject.metadata.labels['kubernetes.io/metadata.name'] + ' ' + namespaceObject.status.phase",
      },
      {
        expression: 'object.data.?shown.orValue("") != "object"',
        messageExpression:
          "object.kind + ' ' + object.apiVersion + ' ' + object.metadata.namespace + ' ' + string(oldObject == null)",
      },
      {
        expression: 'object.data.?shown.orValue("") != "rights"',
        messageExpression: "'no message for that'",
      },
    ]),
    [
      post(maps, map({ a: '', shown: 'request' }), { status: 422 }),
      post(dry(maps), map({ a: '', shown: 'request' }), { status: 422 }),
      post(maps, map({ a: '', shown: 'namespace' }), { status: 422 }),
      post(maps, map({ a: '', shown: 'object' }), { status: 422 }),
    ],
  ),
  enforced(
    'a rule can ask for rights',
    policy([
      notBad,
      {
        expression:
          "authorizer.group('').resource('configmaps').namespace('$(ns)').check('delete').allowed() && authorizer.requestResource.check('create').allowed()",
      },
    ]),
    [post(maps, map({ a: 'good' }), { status: 201 })],
  ),
];

const operations: readonly ContractCase[] = [
  enforced(
    'an update is compared with the old object',
    policy([
      {
        expression:
          "oldObject == null || object.data.a == oldObject.data.a || object.data.a != 'bad'",
        messageExpression: "'a was ' + oldObject.data.a",
      },
    ]),
    [
      post(maps, map({ a: 'bad' }), { status: 201 }),
      merge(`${maps}/x`, { metadata: { labels: { a: 'b' } } }, { status: 200 }),
      merge(`${maps}/x`, { data: { a: 'good' } }, { status: 200 }),
      merge(`${maps}/x`, { data: { a: 'bad' } }, { status: 422 }),
    ],
    { until: { untilAnswer: merge(dry(`${maps}/kept`), { data: { a: 'bad' } }, { status: 422 }) } },
  ),
  enforced(
    'a deletion is judged by the old object, also of a collection',
    policy(
      [
        {
          expression: "oldObject.metadata.?labels.?keep.orValue('') != 'yes'",
          messageExpression: "oldObject.metadata.name + ' is kept, ' + string(object == null)",
        },
      ],
      { rule: { operations: ['DELETE'] } },
    ),
    [
      post(maps, map({}, { name: 'y' }), { status: 201 }),
      remove(`${maps}/y`, undefined, { status: 200 }),
      remove(`${maps}/kept`, undefined, { status: 422 }),
      remove(dry(`${maps}/kept`), undefined, { status: 422 }),
      remove(`${maps}?labelSelector=keep`, undefined, { status: 422 }),
      merge(`${maps}/kept`, { metadata: { labels: { keep: 'no' } } }, { status: 200 }),
      remove(`${maps}/kept`, undefined, { status: 200 }),
    ],
    {
      until: {
        untilAnswer: { method: 'DELETE', path: dry(`${maps}/kept`), expect: { status: 422 } },
      },
    },
  ),
].map((each) => ({
  ...each,
  steps: [
    post(maps, map({ a: 'good' }, { name: 'kept', labels: { keep: 'yes' } }), { status: 201 }),
    ...each.steps,
  ],
}));

export const policyCases: readonly ContractCase[] = [...enforcement, ...conditions, ...operations];
