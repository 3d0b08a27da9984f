import { type LanguageName, literal, type SchemaNode, typeText } from '#compile';

/** What is known about a field: type, limits, description, examples. */
export function describeField(name: string, node: SchemaNode): string {
  const { description, schema } = node;
  const examples = Array.isArray(schema.examples) ? schema.examples.map(codeOf) : [];
  return paragraphs(
    `**${name}**: ${typeText(node)}`,
    description,
    examples.length === 0 ? undefined : `Example: ${examples.join(', ')}`,
  );
}

/** A function, a helper or a variable, as in docs/functions.md. */
export function describeName({ call, returns, doc, example }: LanguageName): string {
  const gives = example !== undefined && 'gives' in example ? ` → ${codeOf(example.gives)}` : '';
  return paragraphs(
    `\`${call}\`${returns === undefined ? '' : `: ${returns}`}`,
    doc,
    example && `Example: \`${example.source}\`${gives}`,
  );
}

function codeOf(value: unknown): string {
  return `\`${literal(value)}\``;
}

function paragraphs(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join('\n\n');
}
