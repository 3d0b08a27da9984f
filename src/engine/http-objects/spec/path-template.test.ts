import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isSafePath, type PathValues, parsePath, renderPath } from './path-template.ts';

const known = ['id', 'zone', 'name', 'metadata.name'];

function rendered(
  source: string,
  values: PathValues = {},
  slashesIn: readonly string[] = [],
): string {
  const parsed = parsePath(source, '/spec/observe/path', known);
  if ('problem' in parsed) return `problem: ${parsed.problem.message}`;
  const result = renderPath(parsed.template, values, slashesIn);
  return 'path' in result ? result.path : `failure: ${result.failure}`;
}

describe('http-objects/spec path templates', () => {
  for (const [source, values, expected] of [
    ['/zones/{zone}/records/{id}', { zone: 'z1' }, '/zones/z1/records/{id}'],
    ['/queues/%2F/{name}', { name: 'a b' }, '/queues/%2F/a%20b'],
    ['/x/{name}', { name: 'a:b?c#d%2e' }, '/x/a%3Ab%3Fc%23d%252e'],
    ['/x/{name}', { name: '50% off %zz ...' }, '/x/50%25%20off%20%25zz%20...'],
    ['/x/{name}', { name: 'a/b' }, 'failure'],
    ['/x/{name}', { name: 'a\\b' }, 'failure'],
    ['/x/{name}', { name: 'a%2fb' }, 'failure'],
    ['/x/{name}', { name: 'a%25252Fb' }, 'failure'],
    ['/x/{name}', { name: 'a%5cb' }, 'failure'],
    ['/x/{name}', { name: 'a／b' }, 'failure'],
    ['/x/{name}', { name: '%2e%2e' }, 'failure'],
    ['/x/{name}', { name: '%252E.' }, 'failure'],
    ['/x/{name}', { name: '．．' }, 'failure'],
    ['/x/{name}', { name: '..;a=b' }, 'failure'],
    ['/x/{name}', { name: 'a%0d%0aX: y' }, 'failure'],
    ['/x/{name}', { name: 'a%00' }, 'failure'],
    ['/x/{name}', { name: '${1+1} $(body)' }, '/x/%24%7B1%2B1%7D%20%24(body)'],
    ['/users/{name}@example.com', { name: 'ü' }, '/users/%C3%BC@example.com'],
    ['/x/{metadata.name}/', { 'metadata.name': 'www' }, '/x/www/'],
    ['/x/{name}.json', { name: '..' }, 'failure'],
    ['/x/{name}', { name: '..' }, 'failure'],
    ['/x/{name}', { name: '.' }, 'failure'],
    ['/x/{name}', { name: '' }, 'failure'],
    ['/x/{name}', { name: '../../admin' }, 'failure'],
    ['/x/{name}', { name: 'a\\..\\b' }, 'failure'],
    ['/x/{name}', { name: 'a\nb' }, 'failure'],
    ['/x/{name}', { name: '\ud800' }, 'failure'],
    ['/x/.{name}', { name: '.' }, 'failure'],
    ['/x/{name}', {}, 'failure'],
    ['/x/{name}', { name: 'x'.repeat(3000) }, 'failure'],
    ['/x/../y', {}, 'problem'],
    ['/x/%2e%2E/y', {}, 'problem'],
    ['/x/%252e%252E/y', {}, 'problem'],
    ['/x/..;/y', {}, 'problem'],
    ['/x//y', {}, 'problem'],
    ['/x?y=1', {}, 'problem'],
    ['/x#y', {}, 'problem'],
    ['/x y', {}, 'problem'],
    ['/x\\y', {}, 'problem'],
    ['x', {}, 'problem'],
    ['https://other.example.com/x', {}, 'problem'],
    ['/x/{other}', {}, 'problem'],
    ['/x/${spec.name}', {}, 'problem'],
    ['/x/{{name}}', {}, 'problem'],
  ] as const)
    test(`${source} with ${JSON.stringify(values)} is ${expected}`, () => {
      const result = rendered(source, values);
      const found = ['failure', 'problem'].includes(expected) ? result.split(':')[0] : result;
      assert.equal(found, expected, result);
    });

  for (const [value, expected] of [
    ['/', '/queues/%2F/a'],
    ['team/a', '/queues/team%2Fa/a'],
    ['a\\b', '/queues/a%5Cb/a'],
    ['a%2fb', '/queues/a%252fb/a'],
    ['../b', 'failure'],
    ['a/%2e%2e/b', 'failure'],
    ['a%2f..%2fb', 'failure'],
  ] as const)
    test(`with "slashesIn", the value ${value} is ${expected}`, () => {
      const result = rendered('/queues/{zone}/{name}', { zone: value, name: 'a' }, ['zone']);
      assert.equal(expected === 'failure' ? result.split(':')[0] : result, expected, result);
      assert.match(rendered('/queues/{zone}', { zone: value }), /^failure/);
    });

  test('a slash in a value says what permits it', () => {
    assert.equal(
      rendered('/x/{name}', { name: 'a/b' }),
      'failure: Expected a value of the parameter "name" without slashes: some servers decode "%2F" before they route. If this API does not, add "slashesIn: [name]"',
    );
  });

  test('a value that is encoded a thousand times is decoded in time', () => {
    const value = `%${'25'.repeat(1_000)}2e`;
    assert.match(rendered('/x/{name}', { name: `${value}.` }), /^failure/);
  });

  for (const path of [
    '',
    'x',
    '/../x',
    '/x/..',
    '/x/.',
    '/%2e%2e/x',
    '/a%2f..%2fb',
    '/a%5c..%5cb',
    '/%zz',
    '/%ff',
    '//x',
  ])
    test(`"${path}" may lead elsewhere`, () => {
      assert.equal(isSafePath(path), false);
    });
});
