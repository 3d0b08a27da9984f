import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { operatorText } from '../../../test/support/lsp/marked-text.ts';
import { OpenDocument } from './open-document.ts';
import { TextDocument } from './protocol.ts';

const text = operatorText('web-app');

function childrenOf(open: OpenDocument) {
  return open.parsed().documents[0]?.parts?.definition.children.map(({ id }) => id);
}

describe('lsp/open-document', () => {
  test('a text is parsed once for each version', () => {
    const open = new OpenDocument(TextDocument.create('file:///a.yaml', 'yaml', 1, text));
    const first = open.parsed();
    assert.equal(open.parsed(), first);
    open.change([{ text: `${text}\n` }], 2);
    assert.notEqual(open.parsed(), first);
    assert.equal(open.parsed().text, `${text}\n`);
  });

  test('an open quote hides no children that were known', () => {
    const open = new OpenDocument(TextDocument.create('file:///a.yaml', 'yaml', 1, text));
    const all = childrenOf(open);
    open.change([{ text: text.replace('kind: Service', 'kind: "Service') }], 2);
    assert.deepEqual(childrenOf(open), all);
    open.change([{ text: text.replace('- id: service', '- id: site') }], 3);
    assert.deepEqual(childrenOf(open)?.includes('site'), true);
  });
});
