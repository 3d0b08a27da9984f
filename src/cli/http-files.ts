import type { DefinitionManifest } from '#check';

/** Whether a file may have an object behind HTTP. */
export function namesHttpKind({ text }: Pick<DefinitionManifest, 'text'>): boolean {
  return /\bHttp(?:Object|Endpoint)\b/.test(text);
}
