import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInstance,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { OptionalNotNull } from '../../platform/http/fields.js';
import { HEADER_FORMS, type HeaderForm } from './binding.js';

const MOST_BINDINGS = 16;
const MOST_PATHS = 16;
/** Of requests that may have a value: no tunnel, and no TRACE, which answers with what it was sent. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** As it is compared with the path of a request: what that cannot have would never match. */
const PATH = /^\/(?!\/)(?!.*\/(\/|\.{1,2}(\/|$)))(?!\.{1,2}(\/|$))[^\s\p{Cc}\\?#]{0,199}$/u;
const arePaths = (value: unknown): boolean =>
  !Array.isArray(value) || value.every((one) => typeof one === 'string' && one.length <= 200 && PATH.test(one));

const Paths = (): PropertyDecorator => (target, key) => {
  const description =
    'Patterns of the paths of requests: `*` stands for one segment, `**` for any. Without it all paths.';
  const items = { type: 'string', minLength: 1, maxLength: 200, pattern: '^/' };
  Documented({ description, type: 'array', items })(target, key);
  const defaultMessage = () =>
    '$property must be patterns of 1 to 200 characters that begin with a slash, such as /repos/acme/**, without white space, query, empty segments and segments of dots';
  ValidateBy({ name: 'paths', validator: { validate: arePaths, defaultMessage } })(target, key);
  ArrayUnique()(target, key);
  ArrayMaxSize(MOST_PATHS)(target, key);
  ArrayMinSize(1)(target, key);
  IsArray()(target, key);
  IsOptional()(target, key);
};

/** A header or a parameter of the query. What fits what is looked at in `checked-bindings.ts`. */
export class PlaceDto {
  @OptionalNotNull()
  @IsString()
  @MaxLength(64)
  @Matches(/^[A-Za-z0-9_-]+$/, { message: '$property must be the name of a header, such as Authorization' })
  @Documented({ description: 'The name of a header, such as `Authorization`.' })
  header?: string;

  @OptionalNotNull()
  @IsIn(HEADER_FORMS)
  @Documented({
    description:
      'How the value stands in the header: `Bearer VALUE`, Basic with the value as the password, `token VALUE`, or the value alone. Default `bearer` for Authorization, else `raw`.',
  })
  form?: HeaderForm;

  @IsOptional()
  @IsString()
  @Matches(/^[\x21-\x39\x3b-\x7e]{1,100}$/, {
    message: '$property must have 1 to 100 visible ASCII characters, and no colon',
  })
  @Documented({ description: 'With `basic`: the user name that is sent. Without it whichever the request has.' })
  user?: string | null;

  @OptionalNotNull()
  @IsString()
  @Matches(/^[A-Za-z0-9_.-]{1,64}$/, {
    message: '$property must be the name of a parameter: 1 to 64 letters, digits and . _ -',
  })
  @Documented({ description: 'The name of a parameter of the query.' })
  query?: string;
}

/** Reference §24. */
export class BindingDto {
  @IsString()
  @MaxLength(255)
  @Documented({
    description:
      'A name in small letters such as `api.github.com`, `*.` and a name of two labels or more for one label before it, or an address. One of those that the operator allows.',
  })
  host: string;

  @OptionalNotNull()
  @IsInt()
  @Min(1)
  @Max(65_535)
  @Documented({ description: '443 is the default.' })
  port?: number;

  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(METHODS.length)
  @ArrayUnique()
  @IsIn(METHODS, { each: true })
  @Documented({ description: 'Of which requests; without it of all.' })
  methods?: string[] | null;

  @Paths()
  paths?: string[] | null;

  @IsInstance(PlaceDto, { message: 'place must be an object {header} or {query}' })
  @ValidateNested({ message: 'place must be an object {header} or {query}' })
  @Type(() => PlaceDto)
  @Documented({ description: 'Where in the request: `{header}` or `{query}`.' })
  place: PlaceDto;
}

const MESSAGE = 'each of $property must be an object {host, place}';
/** class-validator goes through lists in lists, and finds nothing wrong with empty ones. */
const isFlat = (value: unknown) => Array.isArray(value) && !value.some(Array.isArray);

/** Registered from the last check to the first: the pipe answers the one that was registered last. */
export const Bindings = (): PropertyDecorator => (target, key) => {
  Type(() => BindingDto)(target, key);
  ValidateNested({ each: true, message: MESSAGE })(target, key);
  ValidateBy({ name: 'flat', validator: { validate: isFlat, defaultMessage: () => MESSAGE } })(target, key);
  ArrayMaxSize(MOST_BINDINGS)(target, key);
  ArrayMinSize(1)(target, key);
  IsArray()(target, key);
  Documented({ description: 'Where the value goes. It goes nowhere else.' })(target, key);
};
