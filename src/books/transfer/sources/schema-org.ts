/** The names of schema.org (release 29) that our formats have to do with. */

export const BOOK_TYPES: readonly string[] = ['Book', 'Audiobook'];

/** Works that are listed beside books: all have the properties of CreativeWork. */
const WORK_TYPES = splitNames(`
CreativeWork Article ScholarlyArticle MedicalScholarlyArticle NewsArticle AdvertiserContentArticle
AnalysisNewsArticle AskPublicNewsArticle BackgroundNewsArticle OpinionNewsArticle
ReportageNewsArticle ReviewNewsArticle SatiricalArticle TechArticle APIReference Report
SocialMediaPosting BlogPosting Blog Chapter Collection ComicStory ComicIssue Conversation Course
CreativeWorkSeries BookSeries Periodical Newspaper ComicSeries PublicationIssue PublicationVolume
Dataset DigitalDocument Manuscript Map Movie MusicComposition MusicRecording Photograph Play Poster
Quotation Review SheetMusic ShortStory SoftwareApplication Thesis VisualArtwork WebPage WebSite`);

/** Properties of Thing and CreativeWork. */
const WORK_PROPERTIES = splitNames(`
additionalType alternateName description disambiguatingDescription identifier image mainEntityOfPage
name owner potentialAction sameAs subjectOf url
about abstract accessMode accessModeSufficient accessibilityAPI accessibilityControl
accessibilityFeature accessibilityHazard accessibilitySummary accountablePerson acquireLicensePage
aggregateRating alternativeHeadline archivedAt assesses associatedMedia audience audio author award
awards character citation comment commentCount conditionsOfAccess contentLocation contentRating
contentReferenceTime contributor copyrightHolder copyrightNotice copyrightYear correction
countryOfOrigin creativeWorkStatus creator creditText dateCreated dateModified datePublished
digitalSourceType discussionUrl editEIDR editor educationalAlignment educationalLevel
educationalUse encoding encodingFormat encodings exampleOfWork expires fileFormat funder funding
genre hasPart headline inLanguage interactionStatistic interactivityType interpretedAsClaim
isAccessibleForFree isBasedOn isBasedOnUrl isFamilyFriendly isPartOf keywords learningResourceType
license locationCreated mainEntity maintainer material materialExtent mentions offers pattern
position producer provider publication publisher publisherImprint publishingPrinciples recordedAt
releasedEvent review reviews schemaVersion sdDatePublished sdLicense sdPublisher size
sourceOrganization spatial spatialCoverage sponsor teaches temporal temporalCoverage text thumbnail
thumbnailUrl timeRequired translationOfWork translator typicalAgeRange usageInfo version video
wordCount workExample workTranslation`);

/** Properties that Book has besides. */
const BOOK_PROPERTIES = splitNames(`
abridged bookEdition bookFormat illustrator isbn numberOfPages`);

/** Properties that Audiobook has besides: its own, and those of AudioObject and MediaObject. */
const AUDIOBOOK_PROPERTIES = splitNames(`
duration readBy
caption embeddedTextCaption transcript
associatedArticle bitrate contentSize contentUrl embedUrl encodesCreativeWork endTime height
ineligibleRegion playerType productionCompany regionsAllowed requiresSubscription sha256 startTime
uploadDate width`);

/** The names of persons, reviews and things that stand within a book, and of their properties. */
const INNER_NAMES = splitNames(`
Person Organization PostalAddress Language ImageObject DefinedTerm Rating
reviewBody reviewRating ratingValue bestRating worstRating
EBook Hardcover Paperback AudiobookFormat GraphicNovel
givenName familyName birthDate deathDate address
streetAddress addressLocality addressRegion postalCode addressCountry contentUrl`);

/** Terms that mean schema.org's where its context says so. */
export const SCHEMA_ORG_TERMS: ReadonlySet<string> = new Set([
  ...BOOK_TYPES, ...WORK_TYPES, ...WORK_PROPERTIES, ...BOOK_PROPERTIES, ...AUDIOBOOK_PROPERTIES,
  ...INNER_NAMES,
]);

/** Whether a Book may have it: a property of Thing, CreativeWork or Book. */
export function isBookProperty(name: string): boolean {
  return WORK_PROPERTIES.has(name) || BOOK_PROPERTIES.has(name);
}

/** Whether an Audiobook may have it. */
export function isAudiobookProperty(name: string): boolean {
  return isBookProperty(name) || AUDIOBOOK_PROPERTIES.has(name);
}

/** Whether any work may have it. */
export function isWorkProperty(name: string): boolean {
  return WORK_PROPERTIES.has(name);
}

export function isWorkType(name: string): boolean {
  return WORK_TYPES.has(name);
}

function splitNames(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
