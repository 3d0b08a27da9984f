import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { operatorText } from '../../../test/support/lsp/marked-text.ts';
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
async function askEverything(text: string, checker: TextChecker) {
  const open = new OpenDocument(TextDocument.create('file:///a.yaml', 'yaml', 1, text));
  const { document } = open;
  const parsed = open.parsed();
  const position = document.positionAt(text.length);
  const known = withTexts(knowledge, [parsed]);
  const check = (changed: string) =>
    checker.check(changed, { path: undefined, isSample: false, definitions: [] });
  const diagnostics = (await check(text)).map((each) => markOf(each, { document, parsed }));
  const asked = { document, parsed };
  return {
    diagnostics,
    completions: completionsOf(asked, position, known),
    hover: hoverOf(asked, position, known),
    definition: definitionOf(asked, position),
    references: referencesOf(asked, position, { includeDeclaration: true }),
    symbols: symbolsOf(asked),
    fixes: await fixesOf({ ...asked, check }, { diagnostics: diagnostics.slice(0, 2) }),
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
    test(`every question about a beginning of ${name} is answered`, async () => {
      const text = operatorText(name);
      let unfinished = 0;
      for (let end = text.indexOf('metadata:'); end < text.length; end += stride) {
        const { diagnostics, symbols } = await askEverything(text.slice(0, end), checker);
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

  test('every question about a text with a part cut out is answered', async () => {
    const text = operatorText('database');
    await fc.assert(
      fc.asyncProperty(
        fc.nat(text.length),
        fc.nat(80),
        fc.constantFrom('', '${', '{', '"', '|', '- ', ': '),
        async (start, length, typed) => {
          await askEverything(text.slice(0, start) + typed + text.slice(start + length), checker);
        },
      ),
      { numRuns: 25 },
    );
  });
});
