export { notServed } from './not-served.ts';
export {
  type RenderedChild,
  type RenderOptions,
  type RenderResult,
  renderResource,
} from './render-resource.ts';
export { runResource, untilReady } from './run-resource.ts';
