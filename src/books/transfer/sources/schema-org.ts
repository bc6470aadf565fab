/** What schema.org (release 29) defines for a Book, besides what our model has of it. */

const PROPERTIES = `
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
wordCount workExample workTranslation
abridged bookEdition bookFormat illustrator isbn numberOfPages`;

const BOOK_PROPERTIES: ReadonlySet<string> = new Set(PROPERTIES.trim().split(/\s+/));

/** Whether a Book may have it: a property of Thing, CreativeWork or Book. */
export function isBookProperty(name: string): boolean {
  return BOOK_PROPERTIES.has(name);
}
