// Loaded after the first paint. Trees instead of markup: nothing is ever set as HTML.
import { createLowlight } from 'lowlight';
import diff from 'highlight.js/lib/languages/diff';
import ini from 'highlight.js/lib/languages/ini';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import * as small from './languages.ts';

const lowlight = createLowlight({
  ...small,
  diff,
  ini,
  json,
  markdown,
  xml,
  yaml,
});

export interface Token {
  text: string;
  /** Of highlight.js, `hljs-keyword`. */
  kind: string;
}

interface Node {
  type: string;
  value?: string;
  properties?: { className?: string[] };
  children?: Node[];
}

/** The lines of a text, each as tokens. What is nested too deep for the parser of its language has no colours. */
export function highlight(code: string, language: string): Token[][] {
  const lines: Token[][] = [[]];
  const walk = (node: Node, kind: string) => {
    if (node.type === 'text') {
      (node.value ?? '').split('\n').forEach((text, index) => {
        if (index > 0) lines.push([]);
        if (text !== '') lines.at(-1)?.push({ text, kind });
      });
      return;
    }
    const own = node.properties?.className?.[0] ?? kind;
    for (const child of node.children ?? []) walk(child, own);
  };
  walk(parsed(code, language), '');
  return lines;
}

function parsed(code: string, language: string): Node {
  try {
    return lowlight.highlight(language, code) as Node;
  } catch (error) {
    // The parser calls itself for what stands in one another: 20,000 nested templates end the stack, and with it the page.
    if (!(error instanceof RangeError)) throw error;
    return { type: 'text', value: code };
  }
}

export const knows = (language: string) => lowlight.registered(language);
