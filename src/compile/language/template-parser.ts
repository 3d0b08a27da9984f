import type { FunctionTools } from './functions.ts';
import type { ParsedLeaf } from './leaf.ts';

export interface TemplateOptions {
  /** What Handlebars gets. */
  readonly text: string;
  /** Offsets in `text` before each of which one character of the leaf was dropped. */
  readonly removed: readonly number[];
  readonly tools: FunctionTools;
}

/** Parses a Handlebars text. */
export function parseTemplate(_options: TemplateOptions): ParsedLeaf {
  return {
    problems: [
      { severity: 'error', code: 'template-syntax', message: 'Not supported yet', offset: 0 },
    ],
  };
}
