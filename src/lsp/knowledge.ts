import { type LanguageName, languageNames } from '../compile/index.ts';
import { KindSchemas } from './kind-schemas.ts';
import type { ParsedText } from './parsed-text.ts';

/** What the answers need besides the text. It does not change. */
export interface Knowledge {
  readonly kinds: KindSchemas;
  readonly names: readonly LanguageName[];
}

/** Takes about 20 ms, for the descriptions of built-in kinds. */
export async function loadKnowledge(): Promise<Knowledge> {
  return { kinds: await KindSchemas.load(), names: languageNames() };
}

/** With the kinds of the definitions in these texts. */
export function withTexts(knowledge: Knowledge, texts: readonly ParsedText[]): Knowledge {
  const served = texts.flatMap(({ documents }) =>
    documents.flatMap(({ parts }) => (parts === undefined ? [] : [parts.definition.kind])),
  );
  return { ...knowledge, kinds: knowledge.kinds.withServed(served) };
}
