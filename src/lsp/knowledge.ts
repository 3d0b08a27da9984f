import { type LanguageName, languageNames } from '../compile/index.ts';
import { KindSchemas } from './kind-schemas.ts';

/** What the answers need besides the text. It does not change. */
export interface Knowledge {
  readonly kinds: KindSchemas;
  readonly names: readonly LanguageName[];
}

/** Takes about 20 ms, for the descriptions of built-in kinds. */
export async function loadKnowledge(): Promise<Knowledge> {
  return { kinds: await KindSchemas.load(), names: languageNames() };
}
