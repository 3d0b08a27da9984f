import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { DefinitionValidator } from '../validate-definitions.ts';

const definition = (vars: string, children: string) => `apiVersion: homeostat.dev/v1alpha1
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
                required: [type, text, size, public, volumes, labels]
                properties:
                  type: { type: string, enum: [ClusterIP, NodePort] }
                  text: { type: string }
                  size: { type: integer }
                  public: { type: boolean }
                  labels: { type: object, additionalProperties: { type: string } }
                  volumes: { type: array, items: { type: object, required: [name], properties: { name: { type: string } } } }
${vars}  children:
${children}`;

const pod = (spec: string) => `    - id: web
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }" }
        spec:
          selector: { matchLabels: { app: "\${ metadata.name }" } }
          template:
            metadata: { labels: { app: "\${ vars.app }" } }
            spec: ${spec}
`;
const container = (fields: string) => `{ name: main, image: busybox, ${fields} }`;
const mount = 'volumeMounts: [{ name: data, mountPath: /data }]';

describe('simulation/check-children', () => {
  const validator = new DefinitionValidator();
  after(() => validator.close());

  function found(children: string): readonly string[] {
    const text = definition("  vars: { app: '${ metadata.name }' }\n", children);
    return validator
      .validate([{ file: 'web.yaml', text }])
      .diagnostics.map(({ line, column, message }) => `${line}:${column} ${message}`);
  }

  for (const [title, children] of [
    [
      'a volume that may be among those of a spread',
      pod(`{ volumes: ["\${... spec.volumes }"], containers: [${container(mount)}] }`),
    ],
    [
      'a volume whose name is an expression',
      pod(
        `{ volumes: [{ name: "\${ spec.text }", emptyDir: {} }], containers: [${container(mount)}] }`,
      ),
    ],
    [
      'volumes that an expression decides',
      pod(`{ volumes: "\${ spec.volumes }", containers: [${container(mount)}] }`),
    ],
    ['containers that an expression decides', pod('{ containers: "${ spec.volumes }" }')],
    [
      'fields of which an expression decides one',
      pod(
        `{ containers: [${container('env: [{ name: A, value: "${? spec.text }", valueFrom: "${? spec.labels }" }]')}] }`,
      ),
    ],
    [
      'a port that one of the types permits',
      `    - id: service
      template:
        apiVersion: v1
        kind: Service
        metadata: { name: "\${ metadata.name }" }
        spec: { type: "\${ spec.type }", ports: [{ port: 80, nodePort: 30080 }] }
`,
    ],
    [
      'a minimum that depends on the maximum',
      `    - id: scaler
      template:
        apiVersion: autoscaling/v2
        kind: HorizontalPodAutoscaler
        metadata: { name: "\${ metadata.name }" }
        spec: { minReplicas: 3, maxReplicas: "\${ spec.size }", scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web } }
`,
    ],
    [
      'requests below a limit that is an expression',
      pod(
        `{ containers: [${container('resources: { requests: { cpu: "2", memory: 64Mi }, limits: { cpu: "${ spec.size }", memory: "${ spec.size }Mi" } }')}] }`,
      ),
    ],
    [
      'computed keys, and kinds that are not known',
      `    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a }, data: { "\${ spec.text }": b } }
    - id: certificate
      template: { apiVersion: other.example.com/v1, kind: Certificate, metadata: { name: a }, spec: {} }
`,
    ],
    [
      'a claim of a StatefulSet with the name of a volume',
      `    - id: db
      template:
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: { name: "\${ metadata.name }" }
        spec:
          serviceName: db
          selector: { matchLabels: { app: db } }
          template:
            metadata: { labels: { app: db } }
            spec: { volumes: [{ name: data, emptyDir: {} }], containers: [${container(mount)}] }
          volumeClaimTemplates:
            - metadata: { name: data }
              spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
`,
    ],
  ] as const)
    test(`accepts ${title}`, () => assert.deepEqual(found(children), []));

  test('finds an unknown volume beside other names that are expressions', () => {
    const env = `env: [{ name: A, valueFrom: { secretKeyRef: { name: "\${ spec.text }", key: a } } }]`;
    const volumes = 'volumes: [{ name: date, secret: { secretName: "${ spec.text }" } }]';
    const [first = ''] = found(
      pod(`{ ${volumes}, containers: [${container(`${env}, ${mount}`)}] }`),
    );
    assert.match(first, /There is no volume "data" in this manifest$/);
  });

  test('a volume with two sources is one mistake, also where it is mounted', () => {
    const volumes = 'volumes: [{ name: data, emptyDir: {}, secret: { secretName: a } }]';
    const [first = '', ...others] = found(pod(`{ ${volumes}, containers: [${container(mount)}] }`));
    assert.deepEqual(others, []);
    assert.match(first, /may not specify more than 1 volume type$/);
  });

  test('finds a mistake after a spread at its place', () => {
    const item = '{ name: "A B", emptyDir: {} }';
    const text = pod(
      `\n              containers: [${container('tty: true')}]\n              volumes:\n                - "\${... spec.volumes }"\n                - ${item}`,
    );
    const [first = '', ...others] = found(text);
    assert.deepEqual(others, []);
    assert.match(first, /^41:27 The API server rejects this: a lowercase RFC 1123 label/);
  });

  test('reports a mistake once, at the place of the diagnostic that describes it better', () => {
    const text = pod('{ containers: [{ image: busybox }] }');
    assert.deepEqual(found(text), [
      '37:34 The API server requires "name" in "spec.template.spec.containers.0"',
    ]);
  });
});
