export { type HandlerContext, handleRequest, maxBodyLength } from './handler.ts';
