import type { CompiledTemplate, TemplateNode } from '../template/template.ts';

/** The part of a child's template that gives its name: it can be rendered when the rest cannot. Undefined: there is none by itself. */
export function nameTemplate(template: CompiledTemplate): CompiledTemplate | undefined {
  const metadata = fieldOf(template.root, 'metadata');
  const name = metadata && fieldOf(metadata, 'name');
  switch (name?.kind) {
    case 'constant':
      return { ...template, root: name, slots: [] };
    case 'slot': {
      const slot = template.slots[name.slot];
      if (slot === undefined) return undefined;
      return {
        ...template,
        root: { kind: 'slot', slot: 0 },
        slots: [slot],
        constantSize: 0,
        place: slot.place,
      };
    }
    default:
      return undefined;
  }
}

function fieldOf(node: TemplateNode, name: string): TemplateNode | undefined {
  if (node.kind === 'map') return node.entries.find(({ key }) => key === name)?.node;
  if (node.kind !== 'constant') return undefined;
  const value = (node.value as Readonly<Record<string, unknown>> | null)?.[name];
  return value === undefined ? undefined : { kind: 'constant', value };
}
