import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import type { Response } from 'express';
import { z } from 'zod';
import { notFound } from '../api-error.js';
import { DOCS_PAGE, DOCS_POLICY, DOCS_SCRIPT } from './docs-page.js';
import { Endpoint } from '../endpoint.js';
import { OpenApi } from './openapi.js';

/** What the page loads from the installed package; it loads nothing from elsewhere. */
const PACKAGE_ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

@Controller()
export class OpenApiController {
  constructor(private readonly openApi: OpenApi) {}

  @Get('openapi.json')
  @Header('Content-Type', 'application/json; charset=utf-8')
  @Header('Cache-Control', 'no-cache')
  @Endpoint({
    summary: 'Read this document',
    policy: null,
    scopes: 'public',
    answer: z.record(z.string(), z.unknown()),
  })
  document(): Promise<string> {
    return this.openApi.text();
  }

  @Get('docs')
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Cache-Control', 'no-cache')
  @Header('Content-Security-Policy', DOCS_POLICY)
  @Endpoint({
    summary: 'Show this document as a page',
    policy: null,
    scopes: 'public',
    query: 'ignored',
    answer: { 200: { description: 'The page.', content: { 'text/html': null } } },
  })
  page(): string {
    return DOCS_PAGE;
  }

  @Get('docs/:asset')
  @Endpoint({
    summary: 'Read a file of the page',
    policy: null,
    scopes: 'public',
    query: 'ignored',
    answer: {
      200: { description: 'The file.', content: { 'text/javascript': null, 'text/css': null, 'image/png': null } },
    },
  })
  async asset(@Param('asset') asset: string, @Res() res: Response): Promise<void> {
    res.setHeader('Cache-Control', 'no-cache');
    if (asset === 'page.js') {
      res.type('text/javascript').send(DOCS_SCRIPT);
      return;
    }
    if (!PACKAGE_ASSETS.includes(asset)) throw notFound('file');
    const root = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
    // Express's sendFile would answer ranges and preconditions, which are for the content of files alone.
    res.type(extname(asset)).send(await readFile(join(root, asset)));
  }
}
