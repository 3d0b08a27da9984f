import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { http } from '#cli/commands/http.ts';
import type { Output } from '#cli/output.ts';
import { validate } from '#cli/validate.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeostat-http-'));
after(() => rmSync(folder, { recursive: true }));

const endpoint = `apiVersion: homeostat.dev/v1alpha1
kind: HttpEndpoint
metadata: { name: grafana }
spec:
  url: http://grafana.default.svc:3000/api
  auth: { bearer: { tokenFrom: { secretKeyRef: { name: grafana, key: token } } } }
  allow: [{ methods: [GET, POST, PUT], paths: ["/**"] }]
`;
const object = `apiVersion: homeostat.dev/v1alpha1
kind: HttpObject
metadata: { name: sales }
spec:
  endpoint: { name: grafana }
  params: { folder: a/b }
  slashesIn: [folder]
  inputs: { password: { secretKeyRef: { name: a, key: password } } }
  secretFields: { auth.password: password }
  desired: { title: Sales }
  observe: { path: "/folders/{folder}/{id}", result: $(body.dashboard) }
  find: { path: /search, query: { title: Sales }, match: [title] }
  create: { path: "/folders/{folder}" }
  update: { path: "/folders/{folder}/{id}" }
  delete: { path: "/folders/{folder}/{id}" }
  id: $(result.uid)
`;

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function recordOutput() {
  const lines: string[] = [];
  const output: Output = {
    print: (text) => void lines.push(text),
    error: (text) => void lines.push(text),
    hasColor: false,
    isTerminal: false,
  };
  return { lines, output };
}

async function run(path: string, ...file: readonly string[]) {
  const { lines, output } = recordOutput();
  const flags = { output: 'text', ...(file.length > 0 && { file }) } as const;
  const code = await http(path, flags, output);
  return { code, text: lines.join('\n') };
}

describe('homeostat http', () => {
  test('prints all requests of an object, without values of Secrets', async () => {
    const { code, text } = await run(fileOf('all.yaml', `${endpoint}---\n${object}`));
    assert.equal(code, 0);
    const requests = text
      .split('\n')
      .filter((line) => /^(?:observe|find|create|update|delete) /.test(line));
    assert.deepEqual(requests, [
      'observe GET http://grafana.default.svc:3000/api/folders/a%2Fb/{id}',
      'find    GET http://grafana.default.svc:3000/api/search?title=Sales',
      'create  POST http://grafana.default.svc:3000/api/folders/a%2Fb',
      'update  PUT http://grafana.default.svc:3000/api/folders/a%2Fb/{id}',
      'delete  DELETE http://grafana.default.svc:3000/api/folders/a%2Fb/{id}',
    ]);
    assert.match(text, /Authorization: Bearer \(sensitive\)/);
    assert.match(text, /"password": "\(sensitive\)"/);
    assert.match(text, /DELETE .*\n {8}# Not permitted by "allow" of the HttpEndpoint/);
  });

  test('the endpoint may be in another file', async () => {
    const path = fileOf('object.yaml', object);
    const missing = await run(path);
    assert.equal(missing.code, 1);
    assert.match(missing.text, /There is no HttpEndpoint "grafana" in these files/);
    const { code, text } = await run(path, fileOf('endpoint.yaml', endpoint));
    assert.equal(code, 0);
    assert.match(text, /^HttpObject "sales" of HttpEndpoint "grafana"/);
  });

  test('errors are printed with their place', async () => {
    const wrong = object.replace('$(result.uid)', '$(result.uid +)');
    const { code, text } = await run(fileOf('wrong.yaml', `${endpoint}---\n${wrong}`));
    assert.equal(code, 1);
    assert.match(text, /wrong\.yaml:24:21: error\[expression-syntax\]/);
  });

  test('a file without one is rejected', async () => {
    await assert.rejects(run(fileOf('none.yaml', endpoint)), /There is no HttpObject in/);
  });
});

describe('homeostat validate of objects behind HTTP', () => {
  const check = async (text: string) => {
    const { lines, output } = recordOutput();
    const code = await validate([fileOf('objects.yaml', text)], { output: 'text' }, output);
    return { code, text: lines.join('\n') };
  };

  test('objects in a file without definitions are checked', async () => {
    const right = await check(`${endpoint}---\n${object}`);
    assert.equal(right.code, 0, right.text);
    assert.match(right.text, /HttpEndpoint "grafana" is valid\n.*HttpObject "sales" is valid$/);
    const wrong = await check(`${endpoint}---\n${object.replace('observe:', 'obsrve:')}`);
    assert.equal(wrong.code, 1);
    assert.match(wrong.text, /HttpEndpoint "grafana" is valid/);
    assert.match(wrong.text, /objects\.yaml:19:3: error\[unknown-field\]: Unknown field "obsrve"/);
    assert.match(wrong.text, /hint: Did you mean "observe"\?/);
  });
});
