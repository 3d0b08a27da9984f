/** The only file that imports preact. */
import {
  type Attributes,
  type Component,
  type ComponentChildren,
  createElement,
  type JSX,
} from 'preact';
import { printable } from '#util/printable-text.ts';

export { Component, createRef, render } from 'preact';

/** An element of a page. */
export type VNode = JSX.Element;
/** What an element may contain. */
export type Content = ComponentChildren;

/** Creates an element: pages are calls of functions, so that Node runs them as they are, without a compiler of JSX. */
export function h<Tag extends keyof JSX.IntrinsicElements>(
  type: Tag,
  attributes: JSX.IntrinsicElements[Tag] | null,
  ...children: readonly Content[]
): VNode;
export function h<Props, State>(
  type: new (props: Props) => Component<Props, State>,
  props: Props & Attributes,
  ...children: readonly Content[]
): VNode;
export function h(
  type: string | (new (props: never) => unknown),
  attributes: object | null,
  ...children: readonly Content[]
): VNode {
  return createElement(type as string, shownAttributes(attributes), ...children.map(shown));
}

/** Text of the cluster: control characters, and those that change the order of the text around them, are shown as escapes. */
function shown(content: Content): Content {
  if (typeof content === 'string') return printable(content);
  return Array.isArray(content) ? content.map(shown) : content;
}

/** Attributes that browsers and screen readers show as text. */
const textAttributes = ['title', 'aria-label'];

function shownAttributes(attributes: object | null): object | null {
  if (attributes === null || !textAttributes.some((name) => name in attributes)) return attributes;
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      typeof value === 'string' && textAttributes.includes(name) ? printable(value) : value,
    ]),
  );
}
