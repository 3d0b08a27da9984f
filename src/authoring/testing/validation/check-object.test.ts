import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { readObjects } from '#definition';
import { definitionParser } from '../../../../test/support/definition-parser.ts';
import { ObjectCheck } from './check-object.ts';
import { checkObjects } from './check-objects.ts';

const http = (kind: string, spec: string) => `apiVersion: homeostat.dev/v1alpha1
kind: ${kind}
metadata: { name: a }
spec: ${spec}
`;

const definition = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: web }
spec:
  crd:
    group: example.com
    names: { kind: Web, plural: webs }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:
            type: object
            required: [spec]
            properties:
              spec:
                type: object
                required: [image]
                x-kubernetes-validations:
                  - { rule: "!has(self.size) || self.size < 9 || self.mode == 'big'", message: too large }
                properties:
                  image: { type: string, pattern: "^[a-z]+$" }
                  size: { type: integer, minimum: 1 }
                  mode: { type: string, enum: [small, big], default: small }
                  public: { type: boolean }
                  tags: { type: array, items: { type: string } }
                  links:
                    type: array
                    items:
                      type: object
                      required: [name]
                      properties: { name: { type: string }, url: { type: string } }
`;

const web = (spec: string) =>
  `apiVersion: example.com/v1\nkind: Web\nmetadata: { name: a }\nspec: ${spec}\n`;
const deployment = (container: string) => `apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: elsewhere }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: a, image: a }, ${container}] }
`;

describe('simulation/check-object', () => {
  const [located] = definitionParser.parse(definition, 'web.yaml').definitions;
  assert.ok(located);
  const check = new ObjectCheck([located]);
  after(() => check.close());

  function mistakesIn(text: string): readonly string[] {
    const { objects, diagnostics } = readObjects(text, 'sample.yaml');
    assert.deepEqual(diagnostics, []);
    return checkObjects(objects, check).map(
      ({ severity, code, line, column, message, hint }) =>
        `${line}:${column} ${severity === 'error' ? code : severity}: ${message}${hint === undefined ? '' : `. ${hint}`}`,
    );
  }

  for (const [what, text, expected] of [
    [
      'a right object behind HTTP',
      http('HttpObject', '{ endpoint: { name: a }, observe: { path: /a } }'),
      [],
    ],
    [
      'an object behind HTTP with mistakes',
      http(
        'HttpObject',
        '{ endpoint: { name: a }, observe: { path: /a, result: $(boddy) }, evry: 1m }',
      ),
      [
        '4:61 invalid-value: Expected one of "id", "params", "desired", "code", "headers", "body", "result", "metadata" in code, found "boddy". Did you mean "body"?',
        '4:73 unknown-field: Unknown field "evry". Did you mean "every"?',
      ],
    ],
    [
      'an endpoint that is none',
      http('HttpEndpoint', '{ url: ftp://a }').replace('name: a', 'name: a, labels: { a: 7 }'),
      [
        '3:35 wrong-type: Expected a string, found "7". Quote it: "7"',
        '4:14 invalid-value: Expected a URL with "https" or "http", found "ftp:"',
      ],
    ],
    ['a right resource', web('{ image: nginx, size: 3, tags: [a] }'), []],
    ['a right built-in object in another namespace', deployment('{ name: b, image: b }'), []],
    [
      'an object of a CRD that the server rejects',
      `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: xs.example.com }
spec:
  group: example.com
  names: { kind: X, plural: xs }
  scope: Namespaced
  versions: [{ name: v1, served: true, storage: true }]
---
apiVersion: example.com/v1
kind: X
metadata: { name: a }
`,
      ['8:14 missing-field: Missing field "openAPIV3Schema"'],
    ],
    [
      'an unknown field',
      web('{ image: nginx, sise: 3 }'),
      ['4:23 unknown-field: Unknown field "sise". Did you mean "size"?'],
    ],
    [
      'a mistyped required field is one mistake',
      web('{ imgae: nginx }'),
      ['4:9 unknown-field: Unknown field "imgae". Did you mean "image"?'],
    ],
    [
      'unknown and missing fields in a list',
      web('{ image: nginx, links: [{ name: a }, { nme: b }, {}] }'),
      [
        '4:46 unknown-field: Unknown field "nme". Did you mean "name"?',
        '4:56 missing-field: Missing field "name"',
      ],
    ],
    [
      'wrong types',
      web('{ image: 7, size: "3", public: "true", tags: a }'),
      [
        '4:16 wrong-type: Expected a string, found "7". Quote it: "7"',
        '4:25 wrong-type: Expected an integer, found "3". Write it without quotes: 3',
        '4:38 wrong-type: Expected "true" or "false", found "true". Write it without quotes: true',
        '4:52 wrong-type: Expected a list, found "a"',
      ],
    ],
    ['a missing field', web('{ size: 3 }'), ['4:1 missing-field: Missing field "image"']],
    [
      'a value that is not listed',
      web('{ image: nginx, mode: bog }'),
      ['4:29 invalid-value: Expected "small" or "big", found "bog". Did you mean "big"?'],
    ],
    [
      'bounds and patterns',
      web('{ image: NGINX, size: 0 }'),
      [
        "4:16 invalid-value: The API server rejects this: spec.image in body should match '^[a-z]+$'",
        '4:29 invalid-value: The API server rejects this: spec.size in body should be greater than or equal to 1',
      ],
    ],
    [
      'a rule of the schema',
      web('{ image: nginx, size: 9 }'),
      ['4:7 invalid-value: The API server rejects this: too large'],
    ],
    [
      'values of a built-in kind that cannot be decoded, each at its place',
      deployment(
        '{ name: b, image: b, args: [1], resources: { limits: { memory: 1 GB } }, prts: [] }',
      ),
      [
        '8:77 wrong-type: Expected a string, found "1". Quote it: "1"',
        '8:112 invalid-value: Expected a quantity such as "500m" or "1Gi", found "1 GB"',
        '8:122 unknown-field: Unknown field "prts". Did you mean "ports"?',
      ],
    ],
    [
      'a kind in an apiVersion that does not have it',
      'apiVersion: v1\nkind: Deployment\nmetadata: { name: a }\n',
      ['1:13 unknown-name: There is no kind "Deployment" in "v1". Did you mean "apps/v1"?'],
    ],
    [
      'a mistyped kind of a definition',
      'apiVersion: example.com/v1\nkind: Wbe\nmetadata: { name: a }\n',
      ['2:7 unknown-name: There is no kind "Wbe" in "example.com/v1". Did you mean "Web"?'],
    ],
    [
      'a mistyped group of a definition',
      'apiVersion: eyample.com/v1\nkind: Web\nmetadata: { name: a }\n',
      [
        '1:13 unknown-name: There is no kind "Web" in "eyample.com/v1". Did you mean "example.com/v1"?',
      ],
    ],
    [
      'a kind that another operator may have is a warning',
      'apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: { name: a }\n',
      [
        '2:7 warning: There is no kind "Certificate" in "cert-manager.io/v1". Neither Kubernetes nor a definition has this kind',
      ],
    ],
    [
      'a mistake in an item of a List',
      `apiVersion: v1\nkind: List\nitems:\n  - apiVersion: v1\n    kind: ConfigMap\n    metadata: { name: a }\n    dta: { a: b }\n`,
      ['7:5 unknown-field: Unknown field "dta". Did you mean "data"?'],
    ],
    [
      'a name with dots in a map',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { a.b: c, d.e: 7 }\n',
      ['4:22 wrong-type: Expected a string, found "7". Quote it: "7"'],
    ],
  ] as const)
    test(`${what}: ${expected.length === 0 ? 'no mistake' : expected.length}`, () => {
      assert.deepEqual(mistakesIn(text), expected);
    });

  test('the kind of a CRD among the objects is known', () => {
    const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: others.example.org }
spec:
  group: example.org
  scope: Cluster
  names: { kind: Other, plural: others, singular: other, listKind: OtherList }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, properties: { size: { type: integer } } } }
---
apiVersion: example.org/v1
kind: Other
metadata: { name: a }
sise: 1
`;
    assert.deepEqual(mistakesIn(crd), [
      '17:1 unknown-field: Unknown field "sise". Did you mean "size"?',
    ]);
  });
});
