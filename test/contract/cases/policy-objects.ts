import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import {
  binding,
  bindings,
  changing,
  mutating,
  mutatingBinding,
  mutatingBindings,
  notBad,
  policies,
  policy,
} from './policies.ts';
import { get, merge, post, remove } from './requests.ts';

const table = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } };

function rejected(what: string, body: JsonObject, to = policies): ContractCase {
  return { name: `a policy with ${what} is rejected`, steps: [post(to, body, { status: 422 })] };
}

function expression(what: string, text: string, spec: JsonObject = {}): ContractCase {
  return rejected(what, policy([{ expression: text }], { spec }));
}

export const policyObjectCases: readonly ContractCase[] = [
  {
    name: 'policies and their bindings are completed, shown, changed and deleted',
    steps: [
      post(policies, policy([notBad]), {
        status: 201,
        body: {
          metadata: { generation: 1 },
          spec: { failurePolicy: 'Fail', matchConstraints: { matchPolicy: 'Equivalent' } },
        },
      }),
      post(bindings, binding(), { status: 201, body: { metadata: { generation: 1 } } }),
      post(mutating, changing(['[JSONPatch{op: "remove", path: "/data"}]']), { status: 201 }),
      post(mutatingBindings, mutatingBinding(), { status: 201 }),
      get(`${policies}/$(ns)`, { status: 200 }, table),
      get(`${bindings}/$(ns)`, { status: 200 }, table),
      get(`${mutating}/$(ns)`, { status: 200 }, table),
      get(`${mutatingBindings}/$(ns)`, { status: 200 }, table),
      merge(
        `${bindings}/$(ns)`,
        { spec: { validationActions: ['Warn'] } },
        { status: 200, body: { metadata: { generation: 2 } } },
      ),
      remove(`${mutatingBindings}/$(ns)`, undefined, { status: 200 }),
      remove(`${mutating}/$(ns)`, undefined, { status: 200 }),
      remove(`${bindings}/$(ns)`, undefined, { status: 200 }),
      remove(`${policies}/$(ns)`, undefined, { status: 200 }),
    ],
  },
  expression('a name that does not exist', 'objekt.data.a == "x"'),
  expression('a field of the request that does not exist', 'request.nothing == "x"'),
  expression('a rule that is no boolean', "'a' + 'b'"),
  expression('a rule of an unknown type', 'object.data.a'),
  expression('an optional value as its rule', 'object.?spec.?enabled.orValue(true)'),
  expression('operands that do not fit', "1 + 'a' == 2"),
  expression('a comparison that does not fit', 'request.name == 1'),
  expression('a function that does not exist', "nothing('a')"),
  expression('variables that do not exist', 'variables.a == 1'),
  expression('a variable that does not exist', 'variables.b == 1', {
    variables: [{ name: 'a', expression: '1' }],
  }),
  rejected(
    'a variable that does not compile',
    policy([notBad], {
      spec: {
        variables: [
          { name: 'a', expression: 'objekt' },
          { name: 'not a name', expression: '1' },
        ],
      },
    }),
  ),
  rejected('no rules', policy([])),
  rejected('empty texts', policy([{ expression: ' ', message: ' ', messageExpression: ' ' }])),
  rejected(
    'a message of two lines and an unknown reason',
    policy([{ ...notBad, message: 'a\nb', reason: 'Unknown' }]),
  ),
  rejected('a message that is no text', policy([{ ...notBad, messageExpression: '1' }])),
  rejected(
    'conditions without names, and one twice',
    policy([notBad], {
      spec: {
        matchConditions: [
          { name: '', expression: 'true' },
          { name: 'a', expression: '' },
          { name: 'a', expression: 'variables.x' },
        ],
      },
    }),
  ),
  rejected(
    'rules that select nothing',
    policy([notBad], {
      constraints: { resourceRules: [], matchPolicy: 'Some' },
    }),
  ),
  rejected(
    'a mistake in a rule',
    policy([notBad], {
      rule: { operations: ['READ'], resources: [], apiVersions: [] },
    }),
  ),
  rejected('an unknown failure policy', policy([notBad], { spec: { failurePolicy: 'Maybe' } })),
  rejected(
    'a parameter without a kind',
    policy([notBad], {
      spec: { paramKind: { apiVersion: 'a/b/c', kind: '' } },
    }),
  ),
  rejected(
    'an audit annotation that is no text',
    policy([notBad], {
      spec: { auditAnnotations: [{ key: 'a', valueExpression: '1' }] },
    }),
  ),
  rejected('a patch of another type', changing(['object.data', '[]', '[1]']), mutating),
  rejected(
    'a patch that does not compile',
    changing(['[JSONPatch{op: "add", path: nothing}]']),
    mutating,
  ),
  rejected(
    'no patches and no reinvocation policy',
    changing([], { spec: { reinvocationPolicy: '' } }),
    mutating,
  ),
  rejected('deletions to change', changing(['[]'], { rule: { operations: ['DELETE'] } }), mutating),
  {
    name: 'bindings with mistakes are rejected',
    steps: [
      post(bindings, binding({ policyName: '' }), { status: 422 }),
      post(bindings, binding({ policyName: 'Not A Name' }), { status: 422 }),
      post(bindings, binding({ validationActions: ['Deny', 'Warn'] }), { status: 422 }),
      post(bindings, binding({ validationActions: ['Deny', 'Deny', 'Shout'] }), { status: 422 }),
      post(bindings, binding({ validationActions: [] }), { status: 422 }),
      post(bindings, binding({ paramRef: {} }), { status: 422 }),
      post(
        bindings,
        binding({
          paramRef: { name: 'a', selector: {}, parameterNotFoundAction: 'Maybe' },
        }),
        { status: 422 },
      ),
      post(mutatingBindings, mutatingBinding({ policyName: '' }), { status: 422 }),
    ],
  },
];
