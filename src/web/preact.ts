/** The only file that imports preact. */
import {
  type Attributes,
  type Component,
  type ComponentChildren,
  createElement,
  type JSX,
} from 'preact';

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
  return createElement(type as string, attributes, ...children);
}
