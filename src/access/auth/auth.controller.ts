import { Controller, Get } from '@nestjs/common';
import { Endpoint } from '../../platform/http/endpoint.js';
import { AuthContext } from './auth-context.js';
import { Auth } from './auth.decorator.js';
import { authContextSchema, authContextView } from './auth.view.js';

@Controller('v1/auth')
export class AuthController {
  @Get('context')
  @Endpoint({
    summary: 'Read who the credential stands for',
    policy: 'metadata_read',
    scopes: 'any',
    answer: authContextSchema,
  })
  context(@Auth() auth: AuthContext) {
    return authContextView(auth);
  }
}
