import type { JsonObject } from '#util/json.ts';
import type { ContractCase, RequestStep } from '../driver/index.ts';
import { merge, post } from './requests.ts';
import { suiteGroup } from './suite-crds.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const path = `/apis/${suiteGroup}/v1/namespaces/$(ns)/ruled$(ns)`;

interface RuleCase {
  /** Where the rule stands: of the whole spec, or of one field. */
  readonly at?: string;
  readonly rule: JsonObject;
  readonly good: JsonObject;
  readonly bad: JsonObject;
}

const text = { type: 'string', maxLength: 20 };
const fields: Readonly<Record<string, JsonObject>> = {
  size: { type: 'integer' },
  share: { type: 'number' },
  text,
  mode: { ...text },
  flag: { type: 'boolean' },
  list: { type: 'array', maxItems: 5, items: { type: 'integer' } },
  names: { type: 'array', maxItems: 5, items: text },
  map: { type: 'object', maxProperties: 5, additionalProperties: { type: 'integer' } },
  inner: { type: 'object', properties: { a: { type: 'integer' }, b: text } },
  namespace: text,
  'a-b': text,
};

function crd({ at, rule }: RuleCase): JsonObject {
  const rules = { 'x-kubernetes-validations': [rule] };
  const properties = at === undefined ? fields : { ...fields, [at]: { ...fields[at], ...rules } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `ruled$(ns).${suiteGroup}` },
    spec: {
      group: suiteGroup,
      names: { plural: 'ruled$(ns)', kind: 'Ruled$(ns)' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: { type: 'object', properties, ...(at === undefined ? rules : {}) },
              },
            },
          },
        },
      ],
    },
  };
}

const object = (name: string, spec: JsonObject): JsonObject => ({
  apiVersion: `${suiteGroup}/v1`,
  kind: 'Ruled$(ns)',
  metadata: { name },
  spec,
});

function ruleSteps(one: RuleCase): readonly (RequestStep | ContractCase['steps'][number])[] {
  return [
    post(crds, crd(one), { status: 201 }),
    { until: path, expect: { status: 200 } },
    post(path, object('good', one.good), { status: 201 }),
    post(path, object('bad', one.bad), { status: 422 }),
  ];
}

const ruleCases: Readonly<Record<string, RuleCase>> = {
  'numbers are compared': { rule: { rule: 'self.size <= 3' }, good: { size: 3 }, bad: { size: 4 } },
  'quantities are compared': {
    at: 'text',
    rule: { rule: 'quantity(self).compareTo(quantity("1Gi")) >= 0' },
    good: { text: '1024Mi' },
    bad: { text: '1G' },
  },
  'quantities are numbers': {
    rule: {
      rule: 'isQuantity(self.text) && quantity(self.text).isInteger() && quantity(self.text).add(1).sub(quantity("500m")).isGreaterThan(quantity(self.mode)) && sign(quantity(self.mode)) == 1 && !(quantity(self.text) == quantity(self.mode))',
    },
    good: { text: '2k', mode: '1999500m' },
    bad: { text: '2k', mode: '2000.6' },
  },
  'a text is a quantity': {
    rule: {
      rule: 'quantity(self.text).asInteger() == 2 && quantity(self.mode).asApproximateFloat() < 0.2',
    },
    good: { text: '2', mode: '100m' },
    bad: { text: '2000m', mode: '100m' },
  },
  'a text that is no quantity fails': {
    at: 'text',
    rule: { rule: 'quantity(self).isLessThan(quantity("1"))' },
    good: { text: '-1' },
    bad: { text: '1GB' },
  },
  'a field is asked for': {
    rule: { rule: 'has(self.text) || has(self.size)', message: 'one of them' },
    good: { text: 'a' },
    bad: { flag: true },
  },
  'a rule of one field': {
    at: 'size',
    rule: { rule: 'self > 0 && self % 2 == 0', message: 'must be even' },
    good: { size: 2 },
    bad: { size: 3 },
  },
  'texts are matched': {
    at: 'text',
    rule: { rule: "self.matches('^[a-z]+$') && self.startsWith('a')" },
    good: { text: 'abc' },
    bad: { text: 'b1' },
  },
  'all items': {
    rule: { rule: 'self.list.all(x, x > 1)' },
    good: { list: [2, 3] },
    bad: { list: [1, 2] },
  },
  'some item, exactly one': {
    rule: { rule: 'self.names.exists(n, n == "a") && self.names.exists_one(n, n == "b")' },
    good: { names: ['a', 'b'] },
    bad: { names: ['a', 'b', 'b'] },
  },
  'what is in a list': {
    at: 'mode',
    rule: { rule: "self in ['on', 'off']", message: 'on or off' },
    good: { mode: 'on' },
    bad: { mode: 'maybe' },
  },
  sizes: {
    rule: { rule: 'size(self.names) == self.size' },
    good: { names: ['a'], size: 1 },
    bad: { names: ['a'], size: 2 },
  },
  'keys of a map': {
    rule: { rule: 'self.map.all(k, k.size() < 3 && self.map[k] > 0)' },
    good: { map: { ab: 1 } },
    bad: { map: { abc: 1 } },
  },
  'sums and order': {
    rule: { rule: 'self.list.sum() < 10 && self.list.isSorted() && self.list.max() < 6' },
    good: { list: [1, 2, 3] },
    bad: { list: [3, 2] },
  },
  'a message that is computed': {
    rule: { rule: 'self.size < 5', messageExpression: "self.flag ? 'on' : 'it is wrong'" },
    good: { size: 1, flag: true },
    bad: { size: 9, flag: false },
  },
  'a reason and a field': {
    rule: {
      rule: 'self.size < 5',
      reason: 'FieldValueForbidden',
      fieldPath: '.size',
      message: 'no',
    },
    good: { size: 1 },
    bad: { size: 9 },
  },
  conditions: {
    rule: { rule: "self.mode == 'on' ? has(self.text) : !has(self.text)" },
    good: { mode: 'on', text: 'a' },
    bad: { mode: 'off', text: 'a' },
  },
  'names that are words of the language': {
    rule: { rule: "self.__namespace__ == 'a' && self.a__dash__b == 'b'" },
    good: { namespace: 'a', 'a-b': 'b' },
    bad: { namespace: 'a', 'a-b': 'c' },
  },
  'a field that is not there': {
    rule: { rule: 'self.size > 0' },
    good: { size: 1 },
    bad: { text: 'a' },
  },
  'objects within': {
    rule: { rule: '!has(self.inner) || self.inner.a > 1' },
    good: { inner: { a: 2 } },
    bad: { inner: { a: 1 } },
  },
};

/** Rules that the author of a CRD has written. */
export const rules: readonly ContractCase[] = [
  ...Object.entries(ruleCases).map(
    ([name, one]): ContractCase => ({
      name: `rules: ${name}`,
      ranked: [46],
      steps: ruleSteps(one),
    }),
  ),
  {
    name: 'rules: what may not change',
    ranked: [46],
    steps: [
      ...ruleSteps({
        at: 'text',
        rule: { rule: 'self == oldSelf', message: 'is immutable' },
        good: { text: 'a' },
        bad: { text: 5 },
      }),
      merge(`${path}/good`, { spec: { text: 'a', size: 1 } }, { status: 200 }),
      merge(`${path}/good`, { spec: { text: 'b' } }, { status: 422 }),
      merge(`${path}/good`, { spec: { text: null } }, { status: 200 }),
    ],
  },
];
