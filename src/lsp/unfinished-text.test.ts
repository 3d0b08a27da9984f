import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { operatorText } from '../../test/support/lsp/marked-text.ts';
import {
  completionsOf,
  definitionOf,
  fixesOf,
  hoverOf,
  referencesOf,
  symbolsOf,
} from './answers.ts';
import { TextChecker } from './check-text.ts';
import { loadKnowledge, withTexts } from './knowledge.ts';
import { markOf } from './marks.ts';
import { OpenDocument } from './open-document.ts';
import { TextDocument } from './protocol.ts';

const knowledge = await loadKnowledge();

/** Everything that a client can ask about the end of a text. */
function askEverything(text: string, checker: TextChecker) {
  const open = new OpenDocument(TextDocument.create('file:///a.yaml', 'yaml', 1, text));
  const { document } = open;
  const parsed = open.parsed();
  const position = document.positionAt(text.length);
  const known = withTexts(knowledge, [parsed]);
  const diagnostics = checker
    .check(text, 'a.yaml')
    .map((each) => markOf(each, { document, parsed }));
  return {
    diagnostics,
    completions: completionsOf(open, position, known),
    hover: hoverOf(open, position, known),
    definition: definitionOf(open, position),
    references: referencesOf(open, position, { includeDeclaration: true }),
    symbols: symbolsOf(open),
    fixes: fixesOf(open, { diagnostics: diagnostics.slice(0, 2) }, checker),
  };
}

describe('lsp/unfinished-text', () => {
  const checker = new TextChecker();
  after(() => checker.close());

  for (const [name, stride, atLeast] of [
    ['web-app', 97, 20],
    ['database', 131, 20],
    ['tests/web-app', 113, 5],
  ] as const) {
    test(`every question about a beginning of ${name} is answered`, () => {
      const text = operatorText(name);
      let unfinished = 0;
      for (let end = text.indexOf('metadata:'); end < text.length; end += stride) {
        const { diagnostics, symbols } = askEverything(text.slice(0, end), checker);
        if (diagnostics.length > 0) unfinished++;
        for (const { range } of diagnostics) {
          assert.equal(range.start.line, range.end.line);
          assert.ok(range.start.character <= range.end.character);
        }
        assert.ok(symbols.length <= 1);
      }
      assert.ok(unfinished >= atLeast, `${unfinished} texts with diagnostics`);
    });
  }

  test('every question about a text with a part cut out is answered', () => {
    const text = operatorText('database');
    fc.assert(
      fc.property(
        fc.nat(text.length),
        fc.nat(80),
        fc.constantFrom('', '${', '{', '"', '|', '- ', ': '),
        (start, length, typed) => {
          askEverything(text.slice(0, start) + typed + text.slice(start + length), checker);
        },
      ),
      { numRuns: 25 },
    );
  });
});
