import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSandbox } from 'homeostat';

const definitions = `
apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: greeting }
spec:
  crd:
    group: apps.example.com
    names: { kind: Greeting, plural: greetings }
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
                required: [text]
                properties: { text: { type: string } }
  children:
    - id: config
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: "\${ spec.text }" }
`;

interface ConfigMap {
  readonly data: Readonly<Record<string, string>>;
}

test('a greeting has a ConfigMap with its text', async () => {
  const sandbox = await createSandbox({ definitions });
  try {
    const greeting = {
      apiVersion: 'apps.example.com/v1',
      kind: 'Greeting',
      metadata: { name: 'hello' },
    };
    await sandbox.apply({ ...greeting, spec: { text: 'Hello' } });
    const config = await sandbox.until(() => sandbox.get<ConfigMap>('ConfigMap/hello'));
    assert.equal(config.data.text, 'Hello');
    await sandbox.apply({ ...greeting, spec: { text: 'Good morning' } });
    await sandbox.until(async () => {
      const changed = await sandbox.get<ConfigMap>('ConfigMap/hello');
      return changed?.data.text === 'Good morning';
    });
  } finally {
    await sandbox.close();
  }
});
